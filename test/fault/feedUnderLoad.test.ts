/**
 * The feed under load and failures: in two cabinets of one server, several processes accept events with delays and aborts.
 * They are killed, and so is PostgreSQL, while readers keep reading from stored cursors.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { FEED_START, type FeedPosition, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { testCabinet } from "../support/testCabinet.ts"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"
import { compileCache, program, PROGRAM_FLAGS } from "../support/program.ts"

const WRITER = new URL("feedWriter.ts", import.meta.url)

let home: ClusterHome
let cluster: TestCluster
beforeAll(async () => {
  // Bundling blocks the thread for seconds, which would use up the time limits of requests to the database.
  program(WRITER)
  home = clusterHome()
  cluster = await home.init("fire")
  // If the binaries include pg_resetwal, which npm's do not, transaction ids need 64 bits from here on.
  wide = cluster.resetWal(["-e", "1"])
  await cluster.start()
  await cluster.createCabinet("fire")
  await cluster.createCabinet("neighbour")
})
afterAll(() => home.remove())

let wide = false

interface Item {
  readonly id: number
  readonly channel: string
  readonly payload: { readonly body: string }
  readonly repeat_of: number | null
}

interface Told {
  readonly id: number
  readonly body: string
}

const kill = async (child: ChildProcess) => {
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
}

const ids = (items: ReadonlyArray<Item>) => items.map(({ id }) => id)

let seed = 0

/** A cabinet of the server with writing processes and readers with stored cursors, until `end`. */
const cabinetUnderFire = async (database: string) => {
  const url = cluster.url(database)
  const store = testCabinet(url)
  const source = await store.runPromise(Sources.use((sources) => sources.create({ name: database })))
  const told: Array<Told> = []
  const start = (): ChildProcess => {
    const child = fork(program(WRITER), [url, String(source.id), String((seed += 1))], {
      execArgv: [...PROGRAM_FLAGS],
      env: { ...process.env, ...compileCache() },
      silent: true,
    })
    child.on("message", (message) => told.push(message as Told))
    return child
  }
  const writers = [start(), start()]

  let over = false
  /** A reader that keeps its cursor as text, and retries failed pages. */
  const reader = async (limit: number, channel: "file" | null) => {
    const seen: Array<Item> = []
    let kept = FEED_START
    for (let last = false; ;) {
      const after: FeedPosition = { ...kept }
      const page = await store.runPromise(
        FeedStore.use((feed) => feed.page({ after, limit, sourceId: source.id, channel })).pipe(Effect.option),
      )
      if (page._tag === "None") {
        await sleep(20)
        continue
      }
      seen.push(...page.value.items.texts().map((item) => JSON.parse(item) as Item))
      kept = page.value.next
      if (page.value.hasMore) continue
      if (last) return seen
      last = over
      await sleep(20)
    }
  }
  const reading = Promise.all([reader(3, null), reader(50, null), reader(1000, null), reader(7, "file")])

  return {
    /** Waits until this many more events have been acknowledged. */
    more: async (count: number) => {
      const goal = told.length + count
      while (told.length < goal) await sleep(10)
    },
    /** Kills a writer; another one starts in its place. */
    killOne: async () => {
      await kill(writers.shift()!)
      writers.push(start())
    },
    endWriters: () => Promise.all(writers.map(kill)),
    /** What each reader has seen once the last session has ended. */
    end: async () => {
      over = true
      const [small, middle, large, file] = await reading
      const rows = await cluster.run(
        `SELECT id::int4 AS id FROM cabinet.event e ORDER BY e.epoch, e.xid, e.id`,
        database,
      )
      const committed = rows.map((row) => row["id"] as number)
      assert.deepStrictEqual(ids(small), committed)
      assert.deepStrictEqual(ids(middle), committed)
      assert.deepStrictEqual(ids(large), committed)
      assert.deepStrictEqual(ids(file), ids(large.filter(({ channel }) => channel === "file")))

      const body = new Map(large.map((item) => [item.id, item.payload.body]))
      for (const one of told) assert.strictEqual(body.get(one.id), one.body, "an acknowledged event is not in the feed")
      const epochs = await cluster.run("SELECT FROM cabinet.epoch", database)
      assert.strictEqual(epochs.length, 3, "each start of the server begins one epoch, however many notice at once")

      const firsts = new Map<string, number>()
      for (const item of large) {
        if (!item.payload.body.startsWith("shared ")) continue
        const first = firsts.get(item.payload.body)
        assert.strictEqual(item.repeat_of, first ?? null, "a repeat does not name the first that stands before it")
        if (first === undefined) firsts.set(item.payload.body, item.id)
      }
      assert.strictEqual(firsts.size, 5)
      const [ids64] = await cluster.run("SELECT min(xid) > 4294967296 AS are FROM cabinet.event", database)
      assert.strictEqual(ids64!["are"], wide)
      await store.dispose()
    },
  }
}

it(
  "FeedStore.page shows every committed event once and in one order while writers and PostgreSQL are killed",
  { timeout: 120_000 },
  async () => {
    const both = await Promise.all([cabinetUnderFire("fire"), cabinetUnderFire("neighbour")])
    const each = (work: (one: (typeof both)[number]) => Promise<unknown>) => Promise.all(both.map(work))
    await each((one) => one.more(60))
    await cluster.end("SIGKILL")
    await cluster.start()
    await each((one) => one.more(60))
    await each((one) => one.killOne())
    await each((one) => one.more(60))
    await Promise.all([cluster.end("SIGKILL"), each((one) => one.killOne())])
    await cluster.start()
    await each((one) => one.more(60))
    await each((one) => one.endWriters())
    // When the sessions of killed processes are gone, their work is either committed or not.
    while (
      (
        await cluster.run(
          `SELECT FROM pg_stat_activity WHERE application_name LIKE 'data-cabinet%' AND backend_xid IS NOT NULL`,
        )
      ).length > 0
    ) {
      await sleep(10)
    }
    await each((one) => one.end())
  },
)
