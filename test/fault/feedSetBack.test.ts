/**
 * The feed over a database that goes back while its server runs on, which the server cannot notice: clients are led to a
 * promoted standby and back again, or a machine is restored with its memory. All that a client has not seen is shown to it,
 * once, whatever it has seen elsewhere.
 */
import { EventLog } from "@data-cabinet/core/event/EventLog"
import { FEED_START, type FeedPosition, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { Sources } from "@data-cabinet/core/source/Sources"
import * as PgCheckup from "@data-cabinet/store-pg/diagnostics/PgDiagnostics"
import { Effect, Schedule } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { storeRuntime } from "../support/cabinet.ts"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"
import { baseBackup, caughtUp, cutLoose, follow } from "../support/follower.ts"
import { type Switchboard, switchboard } from "../support/switchboard.ts"
import { requestOf } from "./feedWriter.ts"

const DATABASE = "orders"

let home: ClusterHome
let primary: TestCluster
let standby: TestCluster
let address: Switchboard
let store: ReturnType<typeof storeRuntime>
let sourceId: number

/** As a server of the cabinet would be: connected throughout, led to and fro. What is cut off in the middle is sent again. */
const accept = (bodies: ReadonlyArray<string>) =>
  store.runPromise(
    EventLog.use((log) =>
      Effect.forEach(
        bodies,
        (body) => log.append(requestOf(sourceId, body, false)).pipe(Effect.retry(Schedule.recurs(20))),
        { discard: true, concurrency: 3 },
      ),
    ),
  )

interface Client {
  after: FeedPosition
}

/** The bodies of what is new to a client. */
const readOn = (client: Client, limit = 7) =>
  store.runPromise(
    FeedStore.use(
      Effect.fnUntraced(function* (feed) {
        const bodies: Array<string> = []
        for (;;) {
          const query = { after: client.after, limit, sourceId: null, channel: null }
          const page = yield* feed.page(query).pipe(Effect.retry(Schedule.recurs(20)))
          for (const item of page.items.texts()) {
            bodies.push((JSON.parse(item) as { payload: { body: string } }).payload.body)
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
      Effect.provide(PgCheckup.layer),
    ),
  )

beforeAll(async () => {
  home = clusterHome()
  primary = await home.init("primary")
  await primary.start({ wal_level: "replica" })
  await primary.createCabinet(DATABASE)
  address = await switchboard(home.folder("address"), primary.socketDir)
  store = storeRuntime(address.url(DATABASE))
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

it("a client that was led to a promoted standby and back is shown all that it has not seen, once", async () => {
  const [led, late, stayed]: ReadonlyArray<Client> = [
    { after: FEED_START },
    { after: FEED_START },
    { after: FEED_START },
  ]
  assert.deepStrictEqual(await readOn(led!), some("first"))
  assert.deepStrictEqual(await readOn(stayed!), some("first"))
  await caughtUp(primary, standby)
  await cutLoose(standby)
  await accept(some("never copied", 5))
  await standby.run("SELECT pg_promote(true)")

  address.leadTo(standby.socketDir)
  await accept(some("there"))
  assert.deepStrictEqual(await readOn(led!), some("there"))
  assert.deepStrictEqual(await readOn(late!), [...some("first"), ...some("there")])
  assert.isNull(await setBackAt())

  address.leadTo(primary.socketDir)
  // Accepted and acknowledged before anybody comes with a cursor of the other server's.
  await accept(some("back", 30))
  assert.isNull(await setBackAt())
  assert.deepStrictEqual(await readOn(led!), [...some("back", 30), ...some("never copied", 5)])
  assert.isNotNull(await setBackAt())
  await accept(some("on"))
  for (const client of [led!, late!, stayed!])
    await readOn(client).then((seen) => assert.includeMembers(seen, some("on")))
  for (const client of [led!, late!, stayed!]) assert.deepStrictEqual(await readOn(client), [])

  // And there again: what was seen there is known, what comes there now is new.
  address.leadTo(standby.socketDir)
  assert.deepStrictEqual(await readOn(led!), [])
  await accept(some("there again"))
  for (const client of [led!, late!]) assert.deepStrictEqual(await readOn(client), some("there again"))
  assert.deepStrictEqual(await readOn(stayed!), [...some("there"), ...some("there again")])
})

it("one epoch begins, however many clients come with newer cursors at once", async () => {
  address.leadTo(primary.socketDir)
  await accept(["so that the last epoch is this server's"])
  const epochs = async () => (await primary.run("SELECT FROM cabinet.epoch", DATABASE)).length
  const before = await epochs()
  const [last] = await primary.run("SELECT max(epoch)::text AS epoch FROM cabinet.epoch", DATABASE)
  const newer = { epoch: Number(last!["epoch"]) + 1000, xid: 5n, id: 5 }
  await Promise.all(Array.from({ length: 8 }, () => readOn({ after: newer })))
  assert.strictEqual(await epochs(), before + 1)
  const client = { after: newer }
  await accept(some("above it"))
  assert.deepStrictEqual(await readOn(client), some("above it"))
})

it("a client with a place of this very epoch that the database has not got is shown what was accepted since", async () => {
  const client: Client = { after: FEED_START }
  await readOn(client)
  const restored = client.after
  await accept(some("lost"))
  assert.deepStrictEqual(await readOn(client), some("lost"))
  // As a machine that is restored with its memory has it: the server runs on, knows nothing of these, and counts on from
  // where it was then, which only the client's place is made to show here.
  await primary.run(
    `DELETE FROM cabinet.event WHERE (epoch, xid, id) > (${restored.epoch}, ${restored.xid}, ${restored.id})`,
    DATABASE,
  )
  client.after = { ...client.after, xid: client.after.xid + 100_000n }
  await accept(some("after the restore", 30))
  assert.deepStrictEqual(await readOn(client), some("after the restore", 30))
  assert.deepStrictEqual(await readOn(client), [])
  await accept(some("and on"))
  assert.deepStrictEqual(await readOn(client), some("and on"))

  // Before the counter has come to where it was, too.
  const [{ xmax }] = (await primary.run("SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xmax")) as [
    { xmax: string },
  ]
  const ahead = { after: { ...client.after, xid: BigInt(xmax) + 1000n } }
  assert.deepStrictEqual(await readOn(ahead), [])
  await accept(some("at last"))
  assert.deepStrictEqual(await readOn(ahead), some("at last"))
})

it("an event that got the very ids of one that a client has seen, and was lost, is not taken for it", async () => {
  const client: Client = { after: FEED_START }
  await readOn(client)
  await accept(some("seen"))
  assert.deepStrictEqual(await readOn(client), some("seen"))
  // Restored with its memory the server draws the ids of these events once more, which is made to show here.
  const lost = await primary.run(
    `DELETE FROM cabinet.event WHERE payload ->> 'body' LIKE 'seen %' RETURNING id::text AS id, xid::text AS xid`,
    DATABASE,
  )
  assert.lengthOf(lost, 20)
  await accept(some("drawn again", 30))
  const places = lost.map(({ id, xid }) => ({ id: BigInt(id as string), xid: BigInt(xid as string) }))
  places.sort((one, other) => Number(one.id - other.id))
  await primary.run(
    `UPDATE cabinet.event e SET id = p.id, xid = p.xid
     FROM (SELECT id AS old, row_number() OVER (ORDER BY id) AS n FROM cabinet.event WHERE payload ->> 'body' LIKE 'drawn again %') o
     JOIN unnest('{${places.map(({ id }) => id).join()}}'::int8[], '{${places.map(({ xid }) => xid).join()}}'::int8[])
       WITH ORDINALITY AS p(id, xid, n) ON p.n = o.n
     WHERE e.id = o.old`,
    DATABASE,
  )
  assert.deepStrictEqual(await readOn(client), some("drawn again", 30))
  await accept(some("behind those"))
  assert.deepStrictEqual(await readOn(client), some("behind those"))
})
