/**
 * A stream that three brokers keep has every event once and in order, byte for byte as the feed has it, while processes and
 * brokers are killed and stopped, the network between them is cut, and the database loses its connections. `NATS_MINUTES`
 * makes it longer.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { DESTINATION_DEFAULTS } from "@data-cabinet/core/destination/Destination"
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { FEED_START, type FeedPosition, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { MAX_LIMIT } from "@data-cabinet/core/pagination/Page"
import { Sources } from "@data-cabinet/core/source/Sources"
import { afterAll, assert, beforeAll, it, vi } from "vitest"
import { type NatsCluster, startNatsCluster } from "../support/natsCluster.ts"
import { hasNats } from "../support/natsServer.ts"
import { withDatabase } from "../support/postgres.ts"
import { compileCache, program, PROGRAM_FLAGS } from "../support/program.ts"
import { seeded } from "../support/random.ts"
import { LOOPBACK } from "../support/s3Service.ts"
import { testCabinet } from "../support/testCabinet.ts"
import { requestOf } from "./acceptRequest.ts"

const MINUTES = Number(process.env["NATS_MINUTES"] ?? 0)
/** Without minutes: one of each disturbance. */
const ROUNDS_AT_LEAST = 6
const SEED = Number(process.env["NATS_SEED"] ?? 1)
const WORKERS = 2
const EVENTS_AT_ONCE = 20
/** Between two lots of events, so that a long run does not fill the disk. */
const PAUSE_MILLIS = 60
const REPORTED_ROUNDS = 25

const WORKER = program(new URL("destinationWorker.ts", import.meta.url))
const root = mkdtempSync(join(tmpdir(), "nats-cluster-"))
const database = withDatabase()
const random = seeded(SEED)
let cabinet: ReturnType<typeof testCabinet>
let cluster: NatsCluster
let sourceId: number
const children: Array<ChildProcess> = []

const open = () => {
  const child = fork(WORKER, [database.url, root, "none"], {
    execArgv: [...PROGRAM_FLAGS],
    env: { ...process.env, ...compileCache() },
  })
  children.push(child)
}
const end = async (child: ChildProcess) => {
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
}

beforeAll(async () => {
  if (!hasNats) return
  cluster = await startNatsCluster()
  cabinet = testCabinet(database.url, { settings: { allowedNetworks: [LOOPBACK] } })
  sourceId = (await cabinet.runPromise(Sources.use((sources) => sources.create({ name: "Orders" })))).id
  await cluster.createReplicated("EVENTS", "cabinet")
})
afterAll(async () => {
  for (const child of children.splice(0)) await end(child)
  await cluster?.close()
  await cabinet?.dispose()
  rmSync(root, { recursive: true })
})

/** Every lease has ended, also of a process that is at work; and nothing waits after a failure. */
const takeOver = () =>
  database.run(
    "UPDATE cabinet.follower SET not_before = cabinet.now(), leased_until = cabinet.now() WHERE kind = 'destination'",
  )

const loseConnections = () =>
  database.run(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  )

const child = () => children[random(children.length)]!
const broker = () => cluster.brokers[random(cluster.brokers.length)]!

/** How the stream is disturbed; each ends with everything running again. */
const DISTURBANCES = {
  "process killed": async () => {
    const [killed] = children.splice(random(children.length), 1)
    await end(killed!)
    open()
  },
  "process stopped": async () => {
    const stopped = child()
    stopped.kill("SIGSTOP")
    await takeOver()
    await sleep(500 + random(1_500))
    stopped.kill("SIGCONT")
  },
  "broker killed": async () => {
    const killed = broker()
    await killed.stop()
    await sleep(random(1_000))
    killed.start()
  },
  "broker stopped": async () => {
    const stopped = broker()
    stopped.signal("SIGSTOP")
    await sleep(500 + random(5_000))
    stopped.signal("SIGCONT")
  },
  "network cut": async () => {
    for (const { cut } of cluster.proxies) if (random(3) > 0) cut()
    await sleep(500 + random(3_000))
    for (const { mend } of cluster.proxies) mend()
  },
  "connections lost": loseConnections,
} as const

const accept = (n: number) => {
  const append = (index: number) =>
    EventLog.use((log) => appendEvents(log, requestOf(sourceId, `${n} ${index} ${"x".repeat(random(300))}`, false)))
  return Promise.all(Array.from({ length: EVENTS_AT_ONCE }, (_, index) => cabinet.runPromise(append(index))))
}

/** The texts of all events, as the feed has them. */
const feedTexts = async () => {
  const texts: Array<string> = []
  for (let after: FeedPosition = FEED_START; ;) {
    const query = { after, limit: MAX_LIMIT, sourceId: null, channel: null }
    const page = await cabinet.runPromise(FeedStore.use((feed) => feed.page(query)))
    texts.push(...page.items.texts())
    if (!page.hasMore) return texts
    after = page.next
  }
}

const state = async () => (await cabinet.runPromise(Destinations.use((all) => all.list)))[0]!

/** Accepts events until it is stopped. Accepts on lost connections may fail; what was committed is in the feed. */
const accepting = (until: AbortSignal) =>
  (async () => {
    for (let n = 0; !until.aborted; n++) {
      await accept(n).catch(() => undefined)
      await sleep(PAUSE_MILLIS)
    }
  })()

/** A process that was killed keeps its lease, and one that failed waits: neither is what is tested. */
const hurrying = (until: AbortSignal) =>
  (async () => {
    while (!until.aborted) {
      await takeOver().catch(() => undefined)
      await sleep(700)
    }
  })()

/** The disturbances in turn, each at a random moment. Returns how many there were of each. */
const disturb = async () => {
  const counts = new Map<string, number>()
  const until = Date.now() + MINUTES * 60_000
  for (let round = 0; round < ROUNDS_AT_LEAST || Date.now() < until; round++) {
    const [name, act] = Object.entries(DISTURBANCES)[round % ROUNDS_AT_LEAST]!
    await sleep(random(1_000))
    await act()
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if ((round + 1) % REPORTED_ROUNDS === 0) {
      const { eventId, behind, error } = await state()
      process.stdout.write(`${round + 1} disturbances; event ${eventId}, ${behind} behind; ${error ?? "no error"}\n`)
    }
  }
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(", ")
}

it.skipIf(!hasNats)(
  `a stream of three brokers has every event once and in order, through kills, stops and cuts${hasNats ? "" : ": nats-server is missing, .ci/nats installs it"}`,
  async () => {
    const place = { location: "nats://EVENTS/cabinet", endpoint: cluster.endpoint }
    await cabinet.runPromise(Destinations.use((all) => all.add({ ...DESTINATION_DEFAULTS, ...place })))
    for (let n = 0; n < WORKERS; n++) open()
    const over = new AbortController()
    const running = [accepting(over.signal), hurrying(over.signal)]
    await vi.waitFor(async () => assert.isNotNull((await state()).eventId), 120_000)
    const disturbed = await disturb()
    over.abort()
    await Promise.all(running)
    await vi.waitFor(
      async () => {
        await takeOver()
        assert.deepInclude(await state(), { behind: 0, failures: 0 })
      },
      { timeout: 240_000, interval: 2_000 },
    )
    const expected = await feedTexts()
    const stored = (await cluster.messages("EVENTS")).map(({ text }) => text)
    process.stdout.write(`${expected.length} events; ${disturbed}\n`)
    assert.lengthOf(stored, expected.length)
    for (const [n, text] of expected.entries()) if (stored[n] !== text) assert.strictEqual(stored[n], text)
  },
  600_000 + MINUTES * 120_000,
)
