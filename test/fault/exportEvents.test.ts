/**
 * Consecutive files of events while events arrive, runs are killed, a standby takes over and a dump replaces a lost database.
 * Together they hold every event once, in the feed's order, except for events that the feed repeats after a dump.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { openCabinet, type Cabinet } from "data-cabinet"
import { afterAll, assert, beforeAll, it, vi } from "vitest"
import { endAll, type Home, newHome } from "../support/cabinetProcess.ts"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"
import { baseBackup, caughtUp, follow } from "../support/follower.ts"
import { moveDatabase } from "../support/moveDatabase.ts"

const DATABASE = "orders"
const SENDERS = 3

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let clusters: ClusterHome
let primary: TestCluster
let standby: TestCluster
let home: Home
let dir: string
let source: number
/** Acknowledged events by number. */
const stored = new Set<number>()
let sent = 0

const opened = (cluster: TestCluster): Promise<Cabinet> =>
  openCabinet({ databaseUrl: cluster.url(DATABASE), log: { warn: () => {}, error: () => {} } })

/** Sends one event after another until it is stopped, without retries. */
const load = (writer: Cabinet) => {
  const state = { isOver: false }
  const one = async () => {
    while (!state.isOver) {
      const n = ++sent
      await writer.intake(source, { fields: { n } }).then(
        () => stored.add(n),
        () => sleep(20),
      )
    }
  }
  const senders = Array.from({ length: SENDERS }, one)
  return async () => {
    state.isOver = true
    await Promise.all(senders)
  }
}

const names = () => readdirSync(dir)
const env = (cluster: TestCluster) => ({ DATABASE_URL: cluster.url(DATABASE) })
const COMMAND = ["export", "--events", "--dir"]

const run = async (cluster: TestCluster) => {
  const { code, stderr } = await home.cabinet([...COMMAND, dir], env(cluster))
  assert.deepStrictEqual([code, stderr], [0, ""])
}

/** A run during which something happens; its success does not matter. */
const interrupted = async (cluster: TestCluster, meets: (end: () => void) => Promise<void> | void) => {
  const before = new Set(names())
  const child = home.start([...COMMAND, dir], env(cluster))
  let isOver = false
  const exit = new Promise((resolve) => child.once("close", resolve)).then(() => (isOver = true))
  while (!isOver && names().every((name) => before.has(name))) await sleep(1)
  await meets(() => void child.kill("SIGKILL"))
  // A run that has lost its database would wait for it, so it is killed here.
  if (!isOver) child.kill("SIGKILL")
  await exit
}

interface Line {
  readonly id: number
  readonly payload: { readonly n: number }
}

const linesOf = (path: string): ReadonlyArray<Line> =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line)

/** The events of all complete files, in order. */
const exported = () =>
  names()
    .filter((name) => name.endsWith(".ndjson") && existsSync(join(dir, `${name}.cursor`)))
    .sort()
    .flatMap((name) => linesOf(join(dir, name)))

const twice = (numbers: ReadonlyArray<number>) => numbers.filter((n, at) => numbers.indexOf(n) !== at)

/** The whole feed of a database. */
const feedOf = async (cluster: TestCluster) => {
  const whole = join(home.dir, "whole.ndjson")
  const { code, stderr } = await home.cabinet(["export", "--events", "--to", whole], env(cluster))
  assert.deepStrictEqual([code, stderr], [0, ""])
  return linesOf(whole).map(({ payload }) => payload.n)
}

const more = async (count: number) => {
  for (const before = stored.size; stored.size < before + count;) await sleep(10)
}

beforeAll(async () => {
  clusters = clusterHome()
  home = newHome()
  dir = join(home.dir, "stretches")
  mkdirSync(dir)
  primary = await clusters.init("primary")
  await primary.start({ wal_level: "replica" })
  await primary.createCabinet(DATABASE)
  const writer = await opened(primary)
  source = (await writer.sources.create({ name: "Orders" })).id
  await writer.close()
  await primary.run("SELECT slot_name::text FROM pg_create_physical_replication_slot('standby', true)")
  await baseBackup(clusters, primary, "base")
  standby = await follow(clusters, primary, "base", "standby")
  // Both servers have every acknowledged event, so a failover loses nothing.
  await primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
  await primary.run("SELECT pg_reload_conf()")
  await caughtUp(primary, standby)
})
afterAll(async () => {
  await endAll()
  await clusters.remove()
})

it("hold every event once, in the feed's order, when runs are killed and a standby takes over", async () => {
  const before = await opened(primary)
  const endBefore = load(before)
  await more(50)
  await interrupted(primary, (end) => end())
  await run(primary)
  await more(50)
  await interrupted(primary, () => primary.end("SIGKILL"))
  await endBefore()
  await before.close()
  await standby.run("SELECT pg_promote(true)")
  const after = await opened(standby)
  const endAfter = load(after)
  await more(50)
  await interrupted(standby, (end) => end())
  await run(standby)
  await endAfter()
  await after.close()
  await run(standby)
  const numbers = exported().map(({ payload }) => payload.n)
  assert.deepStrictEqual(twice(numbers), [])
  assert.deepStrictEqual(numbers, await feedOf(standby))
  const held = new Set(numbers)
  assert.deepStrictEqual(
    [...stored].filter((n) => !held.has(n)),
    [],
  )
})

/** Another server with a dump, which has the database's content of that moment. */
const dumped = async (from: TestCluster, name: string): Promise<TestCluster> => {
  const fresh = await clusters.init(name)
  await fresh.start()
  await moveDatabase(DATABASE, from, fresh, clusters.binaries)
  return fresh
}

/** Lets events arrive and runs complete or be killed, until all events are in files. */
const goOn = async (cluster: TestCluster) => {
  stored.clear()
  const writer = await opened(cluster)
  const end = load(writer)
  await more(50)
  await interrupted(cluster, (kill) => kill())
  await run(cluster)
  await end()
  await writer.close()
  await run(cluster)
}

it("hold every event once when a dump replaces the database before all its events are exported", async () => {
  const writer = await opened(standby)
  const end = load(writer)
  await more(30)
  await end()
  await writer.close()
  const fresh = await dumped(standby, "fresh")
  await standby.end("SIGKILL")
  await goOn(fresh)
  const numbers = exported().map(({ payload }) => payload.n)
  assert.deepStrictEqual(twice(numbers), [])
  assert.deepStrictEqual(numbers, await feedOf(fresh))
})

it("miss nothing when a dump lost events that they have, and repeat no more than the feed does", async () => {
  const fresh = clusters.cluster("fresh")
  const older = await dumped(fresh, "older")
  const writer = await opened(fresh)
  const end = load(writer)
  await more(30)
  await end()
  await writer.close()
  await run(fresh)
  await fresh.end("SIGKILL")
  const kept = exported().map(({ payload }) => payload.n)
  await goOn(older)
  const numbers = exported().map(({ payload }) => payload.n)
  const feed = await feedOf(older)
  const [held, inFeed] = [new Set(numbers), new Set(feed)]
  assert.deepStrictEqual(
    [...feed, ...stored].filter((n) => !held.has(n)),
    [],
  )
  assert.deepStrictEqual(numbers.slice(0, kept.length), kept)
  const lost = kept.filter((n) => !inFeed.has(n)).length
  assert.isAtLeast(lost, 30)
  const again = twice(numbers)
  assert.isAtMost(again.length, Math.max(100, 16 * lost))
  // The second export repeats each of them once, not more often.
  assert.deepStrictEqual(twice(again), [])
})
