/**
 * `node --conditions=source test/bench/compare.ts --against DIR [--rounds N] [--seconds S] [FIGURE…]`: compares this
 * checkout with another, in alternating rounds on one PostgreSQL, precisely enough to show a change of a few percent.
 * DIR is a clone of the other commit in which `npm test` or `npm start` has run. Prints the median ratio of the rates,
 * of p99 and of the CPU time for a request, each with its 95 % interval (the order statistics of the rounds).
 */
import { spawnSync } from "node:child_process"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { type OurServer, ourServer, postOne, yardstick } from "./contestant.ts"
import { type Bench, median } from "./figure.ts"
import { deliverer, drain, runIn } from "./figure/deliveries.ts"
import { oursAt } from "./figure/intakeJson.ts"
import { orders, pageRequests } from "./figure/rows.ts"
import type { Measured } from "./load/load.ts"
import { getRequest, orderJson, postRequest } from "./load/request.ts"
import { alternate, type Entrant, type Rounds, tell } from "./rounds.ts"
import { startRun } from "./run.ts"
import { seedEvents } from "./seed.ts"
import { shippedCabinet } from "./shipped.ts"

interface Comparison {
  readonly connections: number
  /** Prepares a server's database, and returns the requests to send. */
  readonly requests: (server: OurServer, url: string, program: string) => Promise<ReadonlyArray<string>>
  /** The page that is read meanwhile, and the number of readers. */
  readonly beside?: { readonly path: string; readonly readers: number }
}

const ROWS = 20_000
const DEPTH = 100_000
const BATCH = 100
/** Enough requests that CPU ticks of 10 ms resolve one percent. */
const JOBS = 10_000
const EVENTS = 20_000

const rowsOf =
  (limit: number, rows = ROWS): Comparison["requests"] =>
  async (server, url, program) => {
    await bench.cluster.run(url, ...orders(rows))
    const env = { ...process.env, DATABASE_URL: url }
    const { status } = spawnSync(process.execPath, [program, "expose", "public", "--json"], { env })
    if (status !== 0) throw new Error(`the schema could not be exposed by ${program}`)
    return pageRequests(server.key, limit)
  }

/** Pages of a table next to a view that takes half a second. */
const besideView: Comparison = {
  connections: 16,
  requests: async (server, url, program) => {
    await bench.cluster.run(url, "CREATE VIEW public.slow AS SELECT 1 AS one, pg_sleep(0.5)::text AS slept")
    return rowsOf(100)(server, url, program)
  },
  beside: { path: "/api/v1/tables/public/slow/rows", readers: 8 },
}

/** Pages of a table next to other pages of the same table that scan all its rows. */
const besideScans: Comparison = {
  connections: 16,
  requests: rowsOf(20, 10 * ROWS),
  beside: { path: "/api/v1/tables/public/orders/rows?fc=note&fo=contains&fv=nowhere", readers: 2 },
}

/** Reads from the server until the returned function is called. */
const readBeside = ({ port, key }: OurServer, { path, readers }: NonNullable<Comparison["beside"]>) => {
  const left = new AbortController()
  const { signal } = left
  const readOn = async () => {
    while (!signal.aborted) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { authorization: `Bearer ${key}` },
        signal,
      })
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      await response.arrayBuffer()
    }
  }
  const ended = Promise.all(Array.from({ length: readers }, readOn)).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
  return async () => {
    left.abort()
    await ended
  }
}

const feedOf =
  (limit: number): Comparison["requests"] =>
  async (server, url) => {
    await seedEvents(bench.cluster, url, EVENTS)
    return [getRequest(`/api/v1/events?limit=${limit}`, server.key)]
  }

const ordersPath = (query: string) => `/api/v1/tables/public/orders/rows?${query}`

/** The page after this many others, which are read to get its cursor. */
const deepPage: Comparison["requests"] = async (server, url, program) => {
  await rowsOf(100, DEPTH + ROWS)(server, url, program)
  const sorted = "sort=id&dir=asc"
  let cursor = ""
  for (let read = 0; read < DEPTH; read += 1000) {
    const path = ordersPath(`${sorted}&limit=1000${cursor}`)
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      headers: { authorization: `Bearer ${server.key}` },
    })
    const page = (await response.json()) as { readonly next_cursor: string }
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
  return [getRequest(ordersPath(`${sorted}&limit=100${cursor}`), server.key)]
}

const contains: Comparison["requests"] = async (server, url, program) => {
  await rowsOf(100, DEPTH)(server, url, program)
  return [getRequest(ordersPath("fc=note&fo=contains&fv=nowhere"), server.key)]
}

const batches: Comparison["requests"] = async ({ intakePath }) => [
  postRequest(intakePath, "application/json", `[${Array.from({ length: BATCH }, () => orderJson()).join(",")}]`),
]

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  "intake-json": { connections: 64, requests: async (server) => oursAt(server).requests },
  "intake-batch": { connections: 8, requests: batches },
  rows: { connections: 32, requests: rowsOf(100) },
  "rows-few": { connections: 8, requests: rowsOf(100) },
  "rows-20": { connections: 32, requests: rowsOf(20) },
  "rows-20-few": { connections: 8, requests: rowsOf(20) },
  "rows-depth": { connections: 8, requests: deepPage },
  contains: { connections: 2, requests: contains },
  "one-row": { connections: 32, requests: rowsOf(1) },
  "one-row-few": { connections: 8, requests: rowsOf(1) },
  "rows-beside": besideView,
  "rows-beside-scans": besideScans,
  feed: { connections: 4, requests: feedOf(1000) },
  "feed-100": { connections: 16, requests: feedOf(100) },
}

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { against: { type: "string" }, rounds: { type: "string" }, seconds: { type: "string" } },
})
/** Deliveries of workers, instead of requests. */
const DELIVERIES = "deliveries"
const FIGURES = [...Object.keys(COMPARISONS), DELIVERIES]
const chosen = positionals.length === 0 ? FIGURES : positionals
const stranger = chosen.find((name) => !FIGURES.includes(name))
if (flags.against === undefined || stranger !== undefined) {
  const why = stranger === undefined ? "--against DIR names the other checkout." : `There is no figure ${stranger}.`
  process.stderr.write(`${why} Figures: ${FIGURES.join(", ")}.\n`)
  process.exit(2)
}

const OTHER = "other"
const programs = {
  this: shippedCabinet(),
  [OTHER]: join(resolve(flags.against), "packages", "cli", "bin", "cabinet.mjs"),
}

const say = (line: string) => void process.stderr.write(`${line}\n`)
const { cluster, end } = await startRun(say)
const bench: Bench = {
  cluster,
  scale: "default",
  rounds: Number(flags.rounds ?? 24),
  runIn: 8,
  warmUp: 0.3,
  seconds: Number(flags.seconds ?? 1),
  sized: (_quick, usual) => usual,
  say,
}

/** The median and the least and greatest value of its 95 % interval, as the ranks of a sign test give them. */
const interval = (values: ReadonlyArray<number>): string => {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = Math.max(0, Math.floor(sorted.length / 2 - 0.98 * Math.sqrt(sorted.length)))
  const text = (value: number) => value.toFixed(3)
  return `${text(median(values))} (${text(sorted[rank]!)} to ${text(sorted[sorted.length - 1 - rank]!)})`
}

const cpu = ({ cpu: { server, database } }: Measured): number => server + database

const compare = async (name: string, { connections, requests, beside }: Comparison): Promise<string> => {
  const started: Array<OurServer> = []
  const entrants: Array<Entrant> = []
  for (const [side, program] of Object.entries(programs)) {
    const url = await cluster.database(`${side}_${name.replaceAll("-", "_")}`)
    const server = await ourServer(url, [], side, program)
    started.push(server)
    await postOne(server)
    entrants.push({ ...server, requests: await requests(server, url, program) })
  }
  const stops = beside === undefined ? [] : started.map((server) => readBeside(server, beside))
  const rounds = await alternate(bench, entrants, { connections, rate: null })
  await Promise.all(stops.map((stop) => stop()))
  await Promise.all(started.map((server) => server.stop()))
  return ratiosOf(name, rounds)
}

const ratiosOf = (name: string, rounds: Rounds): string => {
  const [ours, others] = [rounds.get("this")!, rounds.get(OTHER)!]
  const ratios = (of: (measured: Measured) => number) => ours.map((one, round) => of(one) / of(others[round]!))
  const micros = (all: ReadonlyArray<Measured>) =>
    `${Math.round(median(all.map((one) => one.cpu.server)))} + ${Math.round(median(all.map((one) => one.cpu.database)))}`
  return (
    `${name}: rate × ${interval(ratios(({ rate }) => rate))}, p99 × ${interval(ratios(({ p99 }) => p99))}, CPU a request × ${interval(ratios(cpu))}, ` +
    `${micros(ours)} µs beside ${micros(others)} µs (server + database), ${ours.length} rounds`
  )
}

/** As `cabinet worker` sends them. */
const compareDeliveries = async (): Promise<string> => {
  const receiver = await yardstick("receiver", "receiver")
  const workers = await Promise.all(
    Object.entries(programs).map(([side, program]) =>
      deliverer(bench, `http://127.0.0.1:${receiver.port}/hook`, { name: side, program }),
    ),
  )
  for (const worker of workers) await runIn(bench, receiver, worker)
  const rounds = new Map(workers.map(({ name }) => [name, [] as Array<Measured>]))
  for (let round = 0; round < bench.rounds; round++) {
    for (const worker of round % 2 === 0 ? workers : workers.toReversed()) {
      const measured = await drain(bench, receiver, worker, JOBS)
      rounds.get(worker.name)!.push(measured)
      tell(bench, round, worker.name, measured)
    }
  }
  await Promise.all([receiver, ...workers].map((one) => one.stop()))
  return ratiosOf(DELIVERIES, rounds)
}

try {
  for (const name of chosen) {
    const comparison = COMPARISONS[name]
    process.stdout.write(`${await (comparison === undefined ? compareDeliveries() : compare(name, comparison))}\n`)
  }
} finally {
  await end()
}
process.exit(0)
