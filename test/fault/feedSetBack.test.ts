/**
 * The feed of a database that is set back while its server keeps running, which the server cannot notice: clients are routed
 * to a promoted standby and back, or a machine is restored with its memory. A client gets everything that it has not seen.
 * It gets an event again only if the database has lost events that it had seen.
 */
import { appendEvents, type Channel, EventLog } from "@data-cabinet/core/event/EventLog"
import { Feed } from "@data-cabinet/core/feed/Feed"
import { FEED_START, type FeedPosition, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { ClientFollowers } from "@data-cabinet/core/follower/ClientFollowers"
import { keyFingerprint } from "@data-cabinet/core/key/ApiKey"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { Sources } from "@data-cabinet/core/source/Sources"
import * as PgDiagnostics from "@data-cabinet/store-pg/diagnostics/PgDiagnostics"
import { Effect, Schedule } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { testCabinet } from "../support/testCabinet.ts"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"
import { baseBackup, caughtUp, cutLoose, follow } from "../support/follower.ts"
import { type Switchboard, switchboard } from "../support/switchboard.ts"
import { requestOf } from "./acceptRequest.ts"

const DATABASE = "orders"

let home: ClusterHome
let primary: TestCluster
let standby: TestCluster
let address: Switchboard
let store: ReturnType<typeof testCabinet>
let sourceId: number

/** A client that stays connected like a server of the cabinet, and is routed back and forth. It repeats interrupted requests. */
const accept = (bodies: ReadonlyArray<string>) =>
  store.runPromise(
    EventLog.use((log) =>
      Effect.forEach(
        bodies,
        (body) => appendEvents(log, requestOf(sourceId, body, false)).pipe(Effect.retry(Schedule.recurs(20))),
        { discard: true, concurrency: 3 },
      ),
    ),
  )

interface Client {
  after: FeedPosition
  readonly seen: Set<string>
  /** How often it got an event again. */
  again: number
}

/** More than a client gets again after a loss as small as in these tests, because of the gaps in its trail. */
const FEW = 70

const newClient = (after: FeedPosition = FEED_START): Client => ({ after, seen: new Set(), again: 0 })

/** The bodies of the events that are new to a client. */
const readOn = (client: Client, { limit = 7, channel = null as Channel | null } = {}) =>
  store.runPromise(
    FeedStore.use(
      Effect.fnUntraced(function* (feed) {
        const bodies: Array<string> = []
        for (;;) {
          const query = { after: client.after, limit, sourceId: null, channel }
          const page = yield* feed.page(query).pipe(Effect.retry(Schedule.recurs(20)))
          for (const item of page.items.texts()) {
            const { body } = (JSON.parse(item) as { payload: { body: string } }).payload
            if (client.seen.has(body)) client.again++
            else bodies.push(body)
            client.seen.add(body)
          }
          client.after = page.next
          if (!page.hasMore) return bodies.sort()
        }
      }),
    ),
  )

const some = (phase: string, count = 20) => Array.from({ length: count }, (_, n) => `${phase} ${n}`).sort()

const setBackAt = () =>
  store.runPromise(
    Diagnostics.use((diagnostics) => diagnostics.examine).pipe(
      Effect.map((report) => report.setBackAt),
      Effect.provide(PgDiagnostics.layer),
    ),
  )

beforeAll(async () => {
  home = clusterHome()
  primary = await home.init("primary")
  await primary.start({ wal_level: "replica" })
  await primary.createCabinet(DATABASE)
  address = await switchboard(home.folder("address"), primary.socketDir)
  store = testCabinet(address.url(DATABASE))
  sourceId = (await store.runPromise(Sources.use((sources) => sources.create({ name: "Orders" })))).id
  await accept(some("first"))
  await primary.run("SELECT slot_name::text FROM pg_create_physical_replication_slot('standby', true)")
  await baseBackup(home, primary, "base")
  standby = await follow(home, primary, "base", "standby")
})
afterAll(async () => {
  await store.dispose()
  address.close()
  await home.remove()
})

it("a client that was routed to a promoted standby and back gets everything that it has not seen, once", async () => {
  const [led, late, stayed] = [newClient(), newClient(), newClient()]
  assert.deepStrictEqual(await readOn(led), some("first"))
  assert.deepStrictEqual(await readOn(stayed), some("first"))
  await caughtUp(primary, standby)
  await cutLoose(standby)
  await accept(some("never copied", 5))
  await standby.run("SELECT pg_promote(true)")

  address.leadTo(standby.socketDir)
  await accept(some("there"))
  assert.deepStrictEqual(await readOn(led), some("there"))
  assert.deepStrictEqual(await readOn(late), [...some("first"), ...some("there")])
  assert.isNull(await setBackAt())

  address.leadTo(primary.socketDir)
  // Accepted and acknowledged before any client presents a cursor of the other server.
  await accept(some("back", 30))
  assert.isNull(await setBackAt())
  assert.deepStrictEqual(await readOn(led), [...some("back", 30), ...some("never copied", 5)])
  assert.isNotNull(await setBackAt())
  await accept(some("on"))
  for (const client of [led, late, stayed]) await readOn(client).then((seen) => assert.includeMembers(seen, some("on")))
  for (const client of [led, late, stayed]) assert.deepStrictEqual(await readOn(client), [])

  // Back on the other server, earlier events are known and later ones are new.
  address.leadTo(standby.socketDir)
  assert.deepStrictEqual(await readOn(led), [])
  await accept(some("there again"))
  for (const client of [led, late]) assert.deepStrictEqual(await readOn(client), some("there again"))
  assert.deepStrictEqual(await readOn(stayed), [...some("there"), ...some("there again")])
  assert.deepStrictEqual([led.again, late.again], [0, 0])
  // The standby lacks the last events that this client saw of the common epoch.
  assert.isBelow(stayed.again, FEW)
})

it("one new epoch begins, however many clients present newer cursors at once", async () => {
  address.leadTo(primary.socketDir)
  await accept(["so that the last epoch is this server's"])
  const epochs = async () => (await primary.run("SELECT FROM cabinet.epoch", DATABASE)).length
  const before = await epochs()
  const [last] = await primary.run("SELECT max(epoch)::text AS epoch FROM cabinet.epoch", DATABASE)
  const newer = (client: Client) => {
    client.after = { ...client.after, epoch: Number(last!["epoch"]) + 1000, xid: 5n, id: 5 }
    return client
  }
  const clients = Array.from({ length: 8 }, () => newClient())
  await Promise.all(clients.map((client) => readOn(client)))
  assert.isEmpty((await Promise.all(clients.map((client) => readOn(newer(client))))).flat())
  assert.strictEqual(await epochs(), before + 1)
  await accept(some("above it"))
  for (const client of clients) assert.deepStrictEqual(await readOn(client), some("above it"))
})

/**
 * Simulates a machine restored with its memory: the server keeps running, lacks everything accepted after this position, and
 * assigns the same ids again.
 */
const forgetAfter = async (position: FeedPosition) => {
  const lost = await primary.run(
    `DELETE FROM cabinet.event WHERE (epoch, xid, id) > (${position.epoch}, ${position.xid}, ${position.id})
     RETURNING id::text AS id, xid::text AS xid`,
    DATABASE,
  )
  return lost
    .map(({ id, xid }) => ({ id: BigInt(id as string), xid: BigInt(xid as string) }))
    .sort((one, other) => Number(one.id - other.id))
}

/** Gives events the ids of lost ones, as a server that continues from an earlier state would. */
const drawAgain = (bodies: string, places: ReadonlyArray<{ readonly id: bigint; readonly xid: bigint }>) =>
  primary.run(
    `UPDATE cabinet.event e SET id = p.id, xid = p.xid
     FROM (SELECT id AS old, row_number() OVER (ORDER BY id) AS n FROM cabinet.event WHERE payload ->> 'body' LIKE '${bodies} %') o
     JOIN unnest('{${places.map(({ id }) => id).join()}}'::int8[], '{${places.map(({ xid }) => xid).join()}}'::int8[])
       WITH ORDINALITY AS p(id, xid, n) ON p.n = o.n
     WHERE e.id = o.old`,
    DATABASE,
  )

const shiftClock = (shift: string) => primary.run(`UPDATE cabinet.clock SET shift = '${shift}'`, DATABASE)

/** The bodies that a client of this name gets and acknowledges, page by page, up to the end of the feed. */
const readKept = (fingerprint: Uint8Array, limit: number) =>
  store.runPromise(
    Effect.gen(function* () {
      const followers = yield* ClientFollowers
      const feed = yield* Feed
      const bodies: Array<string> = []
      for (let pages = 0; pages < 300; pages++) {
        const page = yield* feed.page(
          yield* followers.resolve(fingerprint, [
            ["follower", "erp"],
            ["limit", String(limit)],
          ]),
        )
        for (const item of page.items.texts())
          bodies.push((JSON.parse(item) as { payload: { body: string } }).payload.body)
        yield* followers.acknowledge(
          fingerprint,
          [
            ["follower", "erp"],
            ["cursor", page.nextCursor],
          ],
          null,
        )
        if (!page.hasMore) return bodies
      }
      return yield* Effect.die(new Error("The position does not move."))
    }),
  )

it.each([1, 7])(
  "a position that the cabinet keeps skips nothing when the database lacks its event, by pages of %i",
  async (limit) => {
    const { key } = await store.runPromise(ApiKeys.use((keys) => keys.issue(`kept ${limit}`)))
    const fingerprint = keyFingerprint(key)
    const client = newClient()
    await readOn(client)
    const restored = client.after
    await readKept(fingerprint, 1_000)
    const lost = some(`lost by pages of ${limit}`, 3)
    await accept(lost)
    assert.sameMembers(await readKept(fingerprint, limit), lost)
    const places = await forgetAfter(restored)
    const after = some(`kept through pages of ${limit}`, 3)
    await accept(after)
    await drawAgain(`kept through pages of ${limit}`, places)
    const got = await readKept(fingerprint, limit)
    assert.includeMembers(got, after)
    assert.isBelow(got.length - after.length, FEW)
    assert.isEmpty(await readKept(fingerprint, limit))
    await accept(some(`on ${limit}`))
    assert.sameMembers(await readKept(fingerprint, limit), some(`on ${limit}`))
  },
)

it("a client with a position of this epoch beyond the database gets the events accepted since", async () => {
  const client = newClient()
  await readOn(client)
  const restored = client.after
  await accept(some("lost"))
  assert.deepStrictEqual(await readOn(client), some("lost"))
  await forgetAfter(restored)
  client.after = { ...client.after, xid: client.after.xid + 100_000n }
  await accept(some("after the restore", 30))
  assert.deepStrictEqual(await readOn(client), some("after the restore", 30))
  assert.isBelow(client.again, FEW)
  const again = client.again
  assert.deepStrictEqual(await readOn(client), [])
  await accept(some("and on"))
  assert.deepStrictEqual(await readOn(client), some("and on"))
  assert.strictEqual(client.again, again)

  // Also before the counter has reached its earlier value.
  const [{ xmax }] = (await primary.run("SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xmax")) as [
    { xmax: string },
  ]
  client.after = { ...client.after, xid: BigInt(xmax) + 1000n }
  assert.deepStrictEqual(await readOn(client), [])
  await accept(some("at last"))
  assert.deepStrictEqual(await readOn(client), some("at last"))
})

it("an event with the same ids as a lost one that a client has seen is not mistaken for it", async () => {
  const client = newClient()
  await readOn(client)
  const restored = client.after
  await accept(some("seen"))
  assert.deepStrictEqual(await readOn(client), some("seen"))
  const lost = await forgetAfter(restored)
  assert.lengthOf(lost, 20)
  await accept(some("drawn again", 30))
  await drawAgain("drawn again", lost)
  assert.deepStrictEqual(await readOn(client), some("drawn again", 30))
  await accept(some("behind those"))
  assert.deepStrictEqual(await readOn(client), some("behind those"))
})

it.each([
  { clock: "lags until it is corrected", shift: "-1 hour" },
  { clock: "was never set", shift: "-40 years" },
])("a client gets the events accepted after the database was set back, when the clock $clock", async ({ shift }) => {
  const phase = `clock ${shift}`
  const [client, atOnce, filtered, idle] = [newClient(), newClient(), newClient(), newClient()]
  await readOn(client)
  await readOn(atOnce, { limit: 1000 })
  await readOn(filtered, { channel: "webhook" })
  await readOn(idle, { channel: "file" })
  const restored = client.after
  await accept(some(`${phase} lost`, 90))
  for (const one of [client, filtered])
    assert.deepStrictEqual((await readOn(one, { channel: one === filtered ? "webhook" : null })).length, 90)
  assert.deepStrictEqual(await readOn(atOnce, { limit: 1000 }), some(`${phase} lost`, 90))
  const lost = await forgetAfter(restored)
  // The machine continues from its earlier state, with a clock behind everything that clients have seen.
  await shiftClock(shift)
  await accept(some(`${phase} lagging`, 30))
  await drawAgain(`${phase} lagging`, lost)
  await shiftClock("0")
  await accept(some(`${phase} corrected`, 10))
  const all = [...some(`${phase} corrected`, 10), ...some(`${phase} lagging`, 30)]
  assert.deepStrictEqual(await readOn(client), all)
  assert.deepStrictEqual(await readOn(atOnce, { limit: 1000 }), all)
  assert.deepStrictEqual(await readOn(filtered, { channel: "webhook" }), all)
  assert.deepStrictEqual(await readOn(idle, { channel: "file" }), [])
  for (const one of [client, atOnce, filtered]) assert.isBelow(one.again, FEW * 16)
})

it("a filtered client whose events were lost is sent back once, however often it retries without receiving a response", async () => {
  const client = newClient()
  await readOn(client, { channel: "webhook" })
  const restored = client.after
  await accept(some("gone"))
  assert.deepStrictEqual(await readOn(client, { channel: "webhook" }), some("gone"))
  await forgetAfter(restored)
  await readOn(client, { channel: "webhook" })
  const led = client.after
  const page = await store.runPromise(
    FeedStore.use((feed) => feed.page({ after: led, limit: 7, sourceId: null, channel: "webhook" })),
  )
  assert.lengthOf(page.items, 0)
  assert.strictEqual(page.next, led, "the place was known at once")
})
