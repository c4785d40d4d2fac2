/**
 * The feed over disasters. A client with an earlier cursor continues after each of them, and sees every event accepted
 * since. If the database lost its latest events, the client sees a few earlier ones again. In each disaster the counter
 * of transaction ids falls below ids that the client has seen, which the tests check first.
 */
import { cpSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { FEED_START, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { testCabinet } from "../support/testCabinet.ts"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"
import { baseBackup, caughtUp, cutLoose, follow } from "../support/follower.ts"
import { moveDatabase } from "../support/moveDatabase.ts"
import { requestOf } from "./acceptRequest.ts"

const DATABASE = "orders"

let home: ClusterHome
let archive: string
let standby: TestCluster
/** The client's position when the primary was lost: after events that no copy of the database has. */
const client = { after: FEED_START, seen: new Set<string>(), again: 0 }
let sourceId: number

type Store = ReturnType<typeof testCabinet>

/** Opens the store of a cluster while `use` runs. */
const withStore = async <A>(url: string, use: (store: Store) => Promise<A>): Promise<A> => {
  const store = testCabinet(url)
  try {
    return await use(store)
  } finally {
    await store.dispose()
  }
}

const accept = (store: Store, bodies: ReadonlyArray<string>) =>
  store.runPromise(
    EventLog.use((log) =>
      Effect.forEach(bodies, (body) => appendEvents(log, requestOf(sourceId, body, false)), {
        discard: true,
        concurrency: 3,
      }),
    ),
  )

/** Reads from the client's cursor to the end; returns the bodies of events that are new to it. */
const readOn = (store: Store, limit = 7) =>
  store.runPromise(
    FeedStore.use(
      Effect.fnUntraced(function* (feed) {
        const bodies: Array<string> = []
        for (;;) {
          const page = yield* feed.page({ after: client.after, limit, sourceId: null, channel: null })
          for (const item of page.items.texts()) {
            const { body } = (JSON.parse(item) as { payload: { body: string } }).payload
            if (client.seen.has(body)) client.again++
            else bodies.push(body)
            client.seen.add(body)
          }
          client.after = page.next
          if (!page.hasMore) return bodies
        }
      }),
    ),
  )

const some = (phase: string, count = 20) => Array.from({ length: count }, (_, n) => `${phase} ${n}`)

/** Uses up transaction ids, as busy days would. */
const burn = (cluster: TestCluster, count: number) =>
  cluster.run(`DO $$ BEGIN FOR n IN 1..${count} LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$`, DATABASE)

const counter = async (cluster: TestCluster): Promise<bigint> => {
  const [row] = await cluster.run("SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xmax")
  return BigInt(row!["xmax"] as string)
}

const epochs = async (cluster: TestCluster): Promise<number> =>
  (await cluster.run("SELECT FROM cabinet.epoch", DATABASE)).length

/**
 * The required outcome of every disaster: nothing new before the first accept, then exactly the accepted events, from
 * two processes that notice at once, and one new epoch in addition to the `known` ones. The few repeated events come
 * before that, once each. Ends with ids used up, so that the next disaster throws them back again.
 */
const goesOn = async (cluster: TestCluster, phase: string, known?: number) => {
  const stood = client.after
  assert.isBelow(Number(await counter(cluster)), Number(stood.xid), "the counter was not thrown back")
  const before = known ?? (await epochs(cluster))
  await withStore(cluster.url(DATABASE), async (store) => {
    client.again = 0
    assert.deepStrictEqual(await readOn(store), [])
    const again = client.again
    assert.isBelow(again, 100)
    await withStore(cluster.url(DATABASE), (other) =>
      Promise.all([accept(store, some(`${phase} here`)), accept(other, some(`${phase} there`))]),
    )
    const seen = await readOn(store)
    assert.deepStrictEqual([...seen].sort(), [...some(`${phase} here`), ...some(`${phase} there`)].sort())
    assert.strictEqual(await epochs(cluster), before + 1)
    await burn(cluster, 600)
    await accept(store, [`${phase} last`])
    assert.deepStrictEqual(await readOn(store), [`${phase} last`])
    assert.strictEqual(client.again, again)
  })
}

const RECOVERED = { archive_mode: "off", recovery_target_action: "promote", recovery_target_name: "here" }

/** Recovers a copy of the base backup from the archive to the point `here`. */
const recovered = async (name: string): Promise<TestCluster> => {
  cpSync(join(home.dir, "base"), join(home.dir, name), { recursive: true })
  writeFileSync(join(home.dir, name, "recovery.signal"), "")
  const cluster = home.cluster(name)
  await cluster.start({ ...RECOVERED, restore_command: `cp ${archive}/%f %p`, recovery_target_timeline: "current" })
  while ((await cluster.run("SELECT pg_is_in_recovery() AS is"))[0]!["is"] === true) await sleep(20)
  return cluster
}

beforeAll(async () => {
  home = clusterHome()
  archive = home.folder("archive")
  const primary = await home.init("primary")
  // A file has its name once it is complete.
  const archiving = `cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f`
  await primary.start({ archive_mode: "on", archive_command: archiving, wal_level: "replica" })
  await primary.createCabinet(DATABASE)
  await withStore(primary.url(DATABASE), async (store) => {
    sourceId = (await store.runPromise(Sources.use((sources) => sources.create({ name: "Orders" })))).id
    await accept(store, some("first"))
    await primary.run("SELECT slot_name::text FROM pg_create_physical_replication_slot('standby', true)")
    await baseBackup(home, primary, "base")
    await accept(store, some("second"))
    standby = await follow(home, primary, "base", "standby")
    await primary.run("SELECT pg_create_restore_point('here')::text")
    await caughtUp(primary, standby)
    await cutLoose(standby)
    // Only the primary and the client have what happens from here on.
    await burn(primary, 600)
    await accept(store, some("lost"))
    const seen = await readOn(store)
    assert.strictEqual(seen.length, 60)
    const [{ file }] = (await primary.run("SELECT pg_walfile_name(pg_switch_wal()) AS file")) as [{ file: string }]
    while (!readdirSync(archive).includes(file)) await sleep(20)
  })
  await primary.end("SIGKILL")
})
afterAll(() => home.remove())

it("a point-in-time recovery continues with old cursors", async () => {
  const cluster = await recovered("pitr")
  await goesOn(cluster, "recovered")
  await cluster.end("SIGINT")
})

it("a second recovery to the same point continues with cursors of the first, although it never knew that epoch", async () => {
  const cluster = await recovered("pitr2")
  await goesOn(cluster, "recovered again")
  await cluster.end("SIGINT")
})

it("a restored copy of the files continues with old cursors", async () => {
  const cluster = home.cluster("pitr2")
  cluster.copyTo("copy")
  await cluster.start()
  await burn(cluster, 600)
  await withStore(cluster.url(DATABASE), async (store) => {
    await accept(store, some("lost with the files"))
    assert.lengthOf(await readOn(store), 20)
  })
  await cluster.end("SIGINT")
  const back = home.cluster("copy")
  await back.start()
  await goesOn(back, "put back")
  await back.end("SIGINT")
})

it("a standby serves no feed and accepts nothing", async () => {
  await withStore(standby.url(DATABASE), async (store) => {
    const page = FeedStore.use((feed) => feed.page({ ...client, limit: 1, sourceId: null, channel: null }))
    assert.strictEqual((await store.runPromise(Effect.flip(page)))._tag, "StoreUnavailable")
    const append = EventLog.use((log) => appendEvents(log, requestOf(sourceId, "refused", false)))
    assert.strictEqual((await store.runPromise(Effect.flip(append)))._tag, "StoreUnavailable")
  })
})

it("a promoted standby continues with old cursors, and so do the servers that were connected to it before", async () => {
  await withStore(standby.url(DATABASE), async (store) => {
    await store.runPromise(
      Effect.exit(EventLog.use((log) => appendEvents(log, requestOf(sourceId, "too soon", false)))),
    )
    // A connected server may begin the new epoch at once.
    const before = await epochs(standby)
    await standby.run("SELECT pg_promote(true)")
    await goesOn(standby, "promoted", before)
    await accept(store, some("connected before"))
    assert.lengthOf(await readOn(store), 20)
  })
})

it("content moved to another cluster by a dump continues with old cursors", async () => {
  const fresh = await home.init("fresh")
  await fresh.start()
  await moveDatabase(DATABASE, standby, fresh, home.binaries)
  await withStore(fresh.url(DATABASE), async (store) => {
    const page = FeedStore.use((feed) => feed.page({ after: FEED_START, limit: 1000, sourceId: null, channel: null }))
    // All moved events are shown at once, even from the beginning, although their ids are ahead of this server's counter.
    const [moved] = await fresh.run("SELECT count(*)::int4 AS n FROM cabinet.event", DATABASE)
    assert.isAbove(moved!["n"] as number, 60)
    assert.lengthOf((await store.runPromise(page)).items, moved!["n"] as number)
  })
  await goesOn(fresh, "moved")
})
