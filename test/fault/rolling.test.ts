/**
 * Three servers and two workers on one database under load, behind a balancer that checks /readyz. Each is restarted in
 * turn, which no client may notice. Then some are killed, and nothing acknowledged may be lost.
 */
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import type { ChildProcess } from "node:child_process"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Balancer, startBalancer } from "../support/balancer.ts"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { withDatabase } from "../support/postgres.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

const SERVERS = 3
const WORKERS = 2
const PAIRS = 3
const API_RATE = 1_000_000

const database = withDatabase()
let home: Home
let balancer: Balancer
let receiver: Receiver
let env: Record<string, string>
const servers: Array<ServerProcess> = []
const workers: Array<ChildProcess> = []

const startServer = async (place: number) => {
  const server = await home.serve(["--no-delivery", "--no-poll"], env)
  servers[place] = server
  await balancer.add(server.baseUrl)
  return server
}

const startWorker = async (place: number) => {
  const worker = home.start(["worker", "--json"], env)
  workers[place] = worker
  await once(worker.stdout!, "data")
}

beforeAll(async () => {
  env = {
    DATABASE_URL: database.url,
    CABINET_ALLOWED_NETWORKS: "127.0.0.0/8",
    CABINET_INTAKE_RATE: "0",
    CABINET_API_RATE: String(API_RATE),
    CABINET_DRAIN_TIME: "5s",
  }
  home = newHome()
  balancer = await startBalancer()
  receiver = await startReceiver()
  // The first server creates the first source, and the others find it.
  await startServer(0)
  const others = Array.from({ length: SERVERS - 1 }, (_, n) => startServer(n + 1))
  await Promise.all([...others, ...Array.from({ length: WORKERS }, (_, n) => startWorker(n))])
}, 120_000)
afterAll(async () => {
  await endAll()
  await balancer.close()
  await receiver.close()
})

interface Event {
  readonly id: number
  readonly repeat_of: number | null
  readonly payload: { readonly body: string }
}

/** What the load saw. */
class Load {
  readonly failures: Array<string> = []
  readonly acknowledged: Array<number> = []
  readonly followed: Array<Event> = []
  /** `X-RateLimit-Remaining` in the responses to the reader of rows, which sends one request after the other. */
  readonly remaining: Array<number> = []
  /** Starts no further requests. */
  isOver = false
  /** Resolves when every submission has a response or has failed. */
  isSent = false
}

const attempt = async (
  load: Load,
  what: string,
  url: string,
  init: RequestInit = {},
): Promise<Response | undefined> => {
  try {
    const response = await fetch(url, init)
    if (response.status === 200) return response
    load.failures.push(`${what}: ${response.status} ${await response.text()}`)
  } catch (error) {
    load.failures.push(`${what}: ${String(error)}`)
  }
  return undefined
}

/** Sends the same fields as a form and as JSON at the same time: one of them is a repeat. */
const sendPairs = async (load: Load, name: string, intake: string) => {
  for (let n = 0; !load.isOver; n++) {
    const body = `${name}-${n}`
    const json = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ body }) }
    const both = [
      attempt(load, "json", intake, json),
      attempt(load, "form", intake, { method: "POST", body: new URLSearchParams({ body }) }),
    ]
    for (const response of await Promise.all(both)) {
      if (response !== undefined) load.acknowledged.push(((await response.json()) as { id: number }).id)
    }
    await sleep(30)
  }
}

const readRows = async (load: Load, key: string) => {
  while (!load.isOver) {
    const url = `${balancer.baseUrl}/api/v1/tables/sources/first_source/rows?limit=10`
    const response = await attempt(load, "rows", url, { headers: { "x-api-key": key } })
    if (response !== undefined) load.remaining.push(Number(response.headers.get("x-ratelimit-remaining")))
    await response?.text()
    await sleep(30)
  }
}

/**
 * Follows until it has seen all acknowledged events, and then to the end, for those committed without acknowledgement.
 */
const followFeed = async (load: Load, key: string, after: { cursor: string }) => {
  const hasSeen = () => {
    const seen = new Set(load.followed.map(({ id }) => id))
    return load.acknowledged.every((id) => seen.has(id))
  }
  for (let atEnd = false; !hasSeen() || !atEnd;) {
    const { isSent } = load
    const url = `${balancer.baseUrl}/api/v1/events?limit=500&cursor=${encodeURIComponent(after.cursor)}`
    const response = await attempt(load, "feed", url, { headers: { "x-api-key": key } })
    if (response === undefined) continue
    const page = (await response.json()) as { data: Array<Event>; next_cursor: string }
    load.followed.push(...page.data)
    after.cursor = page.next_cursor
    atEnd = isSent && page.data.length === 0
    await sleep(30)
  }
}

const newKey = async (name: string) =>
  JSON.parse((await home.cabinet(["key", "add", name, "--json"], env)).stdout).key as string

/** Runs all load while `happening` happens. */
const underLoad = async (
  name: string,
  keys: readonly [string, string],
  after: { cursor: string },
  happening: (load: Load) => Promise<void>,
) => {
  const load = new Load()
  const intake = `${balancer.baseUrl}${servers[0]!.welcome.source?.intake_path ?? intakePath}`
  const pairs = Array.from({ length: PAIRS }, (_, n) => sendPairs(load, `${name}-${n}`, intake))
  const readers = [readRows(load, keys[0]), followFeed(load, keys[1], after)]
  try {
    await happening(load)
  } finally {
    load.isOver = true
    await Promise.all(pairs)
    load.isSent = true
    await Promise.all(readers)
  }
  return load
}

let intakePath = ""

/** Each body has exactly one first event, which its repeat names; no event appears twice or in the wrong order. */
const expectExact = (load: Load) => {
  const ids = load.followed.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  const place = new Map(ids.map((id, n) => [id, n]))
  for (const events of Map.groupBy(load.followed, ({ payload }) => payload.body).values()) {
    const firsts = events.filter(({ repeat_of }) => repeat_of === null)
    expect(firsts).toHaveLength(1)
    for (const { id, repeat_of } of events) {
      if (repeat_of === null) continue
      expect(repeat_of).toBe(firsts[0]!.id)
      expect(place.get(repeat_of)!).toBeLessThan(place.get(id)!)
    }
  }
}

const deliveredIds = () =>
  new Set(receiver.received.map(({ body }) => (JSON.parse(body.toString()) as { data: { id: number } }).data.id))

const firstIds = (load: Load) => load.followed.filter(({ repeat_of }) => repeat_of === null).map(({ id }) => id)

it("a rolling restart fails no request, and killed processes lose nothing acknowledged", async () => {
  intakePath = servers[0]!.welcome.source!.intake_path
  expect((await home.cabinet(["address", "add", receiver.url, "--json"], env)).code).toBe(0)
  const keys = [await newKey("rows"), await newKey("feed")] as const
  // The source's first event adds the columns.
  const after = { cursor: "" }
  const begun = await fetch(`${balancer.baseUrl}/api/v1/events`, { headers: { "x-api-key": keys[1] } })
  after.cursor = ((await begun.json()) as { next_cursor: string }).next_cursor

  const rolling = await underLoad("rolling", keys, after, async (load) => {
    while (load.acknowledged.length < 20) await sleep(10)
    for (let place = 0; place < SERVERS; place++) {
      const old = servers[place]!
      expect(await old.stop("SIGTERM")).toBe(0)
      balancer.remove(old.baseUrl)
      const worker = workers[place]
      worker?.kill("SIGTERM")
      if (worker !== undefined) expect((await once(worker, "exit"))[0]).toBe(0)
      await Promise.all([startServer(place), worker === undefined ? undefined : startWorker(place)])
    }
  })
  expect(rolling.failures).toEqual([])
  expectExact(rolling)
  // Each request reduced the remaining count by one, whichever server counted it; a new minute starts over.
  const odd = rolling.remaining.filter((left, n) => n > 0 && left !== rolling.remaining[n - 1]! - 1)
  expect(odd.filter((left) => left !== API_RATE - 1)).toEqual([])

  const killed = await underLoad("killed", keys, after, async (load) => {
    while (load.acknowledged.length < 20) await sleep(10)
    for (let place = 0; place < WORKERS; place++) {
      const old = servers[place]!
      workers[place]!.kill("SIGKILL")
      await old.stop("SIGKILL")
      balancer.remove(old.baseUrl)
      await Promise.all([startServer(place), startWorker(place)])
    }
  })
  expectExact(killed)

  // Ends the leases of killed processes at once.
  await database.run("UPDATE cabinet.clock SET shift = '2 minutes'")
  const firsts = [...firstIds(rolling), ...firstIds(killed)]
  await receiver.until(() => deliveredIds().size >= firsts.length)
  expect([...deliveredIds()].sort((a, b) => a - b)).toEqual(firsts.sort((a, b) => a - b))
}, 600_000)
