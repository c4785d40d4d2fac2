/** Other load of a server: another cabinet beside this one, and so many transactions that their ids exceed 32 bits. */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { FEED_START, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { assert, it } from "vitest"
import { testCabinet } from "../support/testCabinet.ts"
import { clusterHome } from "../support/cluster.ts"
import { testDatabase } from "../support/postgres.ts"
import { requestOf } from "./acceptRequest.ts"
import { whileAccepting } from "./openAccept.ts"

type Store = ReturnType<typeof testCabinet>

const sourceOf = (store: Store) => store.runPromise(Sources.use((sources) => sources.create({ name: "S" })))

const accept = (store: Store, sourceId: number, body: string) =>
  store.runPromise(EventLog.use((log) => appendEvents(log, requestOf(sourceId, body, false))))

const bodies = FeedStore.use((feed) =>
  Effect.map(feed.page({ after: FEED_START, limit: 100, sourceId: null, channel: null }), (page) =>
    page.items.texts().map((item) => (JSON.parse(item) as { payload: { body: string } }).payload.body),
  ),
)

it("an accept in progress in another cabinet of the server neither delays this feed nor appears in it", async () => {
  const [mine, other] = [await testDatabase(), await testDatabase()]
  const [here, there] = [testCabinet(mine.url), testCabinet(other.url)]
  try {
    const [source, neighbour] = [await sourceOf(here), await sourceOf(there)]
    await accept(there, neighbour.id, "theirs")
    const shown = await there.runPromise(
      whileAccepting(
        neighbour.id,
        "theirs, late",
        Effect.promise(async () => {
          await accept(here, source.id, "mine")
          return [await here.runPromise(bodies), await there.runPromise(bodies)]
        }),
      ),
    )
    assert.deepStrictEqual(shown, [["mine"], ["theirs"]])
  } finally {
    await Promise.all([here.dispose(), there.dispose()])
    await Promise.all([mine.drop(), other.drop()])
  }
})

/** Binaries that include `pg_resetwal`, which npm's lack. */
const withResetWal = (): string | undefined => {
  const system = "/usr/lib/postgresql"
  const versions = existsSync(system) ? readdirSync(system).map((version) => join(system, version, "bin")) : []
  return [process.env["TEST_PG_BIN"] ?? "", ...versions].find((bin) => existsSync(join(bin, "pg_resetwal")))
}

const bin = withResetWal()
if (bin !== undefined) {
  it("the feed keeps its order, and waits for no more than necessary, once transaction ids need 64 bits", async () => {
    const home = clusterHome(bin)
    try {
      const cluster = await home.init("wide")
      await cluster.start()
      await cluster.createCabinet("wide")
      const first = testCabinet(cluster.url("wide"))
      const source = await sourceOf(first)
      await accept(first, source.id, "before")
      await first.dispose()
      await cluster.end("SIGINT")
      assert.isTrue(cluster.resetWal(["-e", "1"]))
      await cluster.start()
      const store = testCabinet(cluster.url("wide"))
      await accept(store, source.id, "after")
      const [wide] = await cluster.run("SELECT max(xid) > 4294967296 AS is FROM cabinet.event", "wide")
      assert.isTrue(wide!["is"])
      const shown = await store.runPromise(
        whileAccepting(
          source.id,
          "open",
          Effect.promise(async () => {
            await accept(store, source.id, "behind it")
            return await store.runPromise(bodies)
          }),
        ),
      )
      assert.deepStrictEqual(shown, ["before", "after"])
      assert.deepStrictEqual(await store.runPromise(bodies), ["before", "after", "open", "behind it"])
      await store.dispose()
    } finally {
      await home.remove()
    }
  })
}
