/**
 * A database that was restarted, killed or paused while idle: requests that arrive once it is back are served, and none of
 * them is sacrificed to detect the restart. The test restarts an external database, and the server restarts the embedded
 * one. `ROUNDS` sets how often; `npm run trials` does it a hundred times each.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { isServerOf, readPostmasterPid } from "@data-cabinet/store-pg/embedded/PostmasterPid"
import { afterAll, expect, it } from "vitest"
import { endAll, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { type ClusterHome, clusterHome } from "../support/cluster.ts"
import { databaseUrl, runSql, superuser } from "../support/postgresAdmin.ts"

const DATABASE = "orders"
const ROUNDS = Number(process.env["ROUNDS"] ?? 3)
/** Longer than the times after which a silent database is probed, and counts as lost. */
const PAUSES = [4_000, 500, 12_000]
const NO_LIMIT = { CABINET_INTAKE_RATE: "0" }

/** A database and its server. `end` ends the database, and `isBack` resolves once it accepts connections again. */
interface Served {
  readonly server: ServerProcess
  readonly pgdata: string
  readonly end: (signal: "SIGINT" | "SIGKILL") => Promise<void>
  readonly isBack: () => Promise<void>
}

let home: ClusterHome | undefined

const own = async (): Promise<Served> => {
  home = clusterHome()
  const cluster = await home.init("own")
  await cluster.start()
  await cluster.createCabinet(DATABASE)
  const server = await newHome().serve([], { DATABASE_URL: cluster.url(DATABASE), ...NO_LIMIT })
  const end: Served["end"] = async (signal) => {
    await cluster.end(signal)
    await cluster.start()
  }
  const isBack = async () => void (await cluster.run("SELECT 1"))
  return { server, pgdata: cluster.pgdata, end, isBack }
}

const embedded = async (): Promise<Served> => {
  const { dataDir, serve } = newHome()
  const server = await serve([], NO_LIMIT)
  const pgdata = join(dataDir, "pgdata")
  const postmaster = () => readPostmasterPid(pgdata)
  const end: Served["end"] = async (signal) => {
    const file = postmaster()!
    process.kill(file.pid, signal)
    while (await isServerOf(pgdata, file)) await sleep(5)
  }
  const isBack = async () => {
    for (;;) {
      const file = postmaster()
      const asked = file?.status === "ready" && runSql(databaseUrl(file.socketDir, superuser, "postgres"), "SELECT 1")
      if (await Promise.resolve(asked).catch(() => false)) return
      await sleep(5)
    }
  }
  return { server, pgdata, end, isBack }
}

afterAll(async () => {
  await endAll()
  await home?.remove()
})

/** The postmaster and its children, which have no process group of their own. */
const processes = (pgdata: string): ReadonlyArray<number> => {
  const { pid } = readPostmasterPid(pgdata)!
  const { stdout } = spawnSync("pgrep", ["-P", `${pid}`], { encoding: "utf8" })
  return [pid, ...stdout.split("\n").filter(Boolean).map(Number)]
}

const tell = (signal: NodeJS.Signals, pids: ReadonlyArray<number>) => {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended meanwhile.
    }
  }
}

const FAULTS: ReadonlyArray<readonly [name: string, fault: (served: Served, round: number) => Promise<void>]> = [
  ["restarted", ({ end }) => end("SIGINT")],
  ["killed", ({ end }) => end("SIGKILL")],
  [
    "paused",
    async ({ pgdata }, round) => {
      const all = processes(pgdata)
      tell("SIGSTOP", all)
      await sleep(PAUSES[Math.floor(round / FAULTS.length) % PAUSES.length]!)
      tell("SIGCONT", all)
    },
  ],
]

it.each([
  ["a database of one's own", own],
  ["the embedded database", embedded],
])(
  "no request gets a 503 once %s is back",
  async (_, begin) => {
    const served = await begin()
    const { welcome, baseUrl } = served.server
    const headers = { "x-api-key": welcome.key!.key }
    const ask = {
      intake: () => fetch(baseUrl + welcome.source!.intake_path, { method: "POST", body: '{"n":1}' }),
      feed: () => fetch(`${baseUrl}/api/v1/events?limit=1`, { headers }),
      source: () => fetch(`${baseUrl}/api/v1/sources/${welcome.source!.id}`, { headers }),
    }
    const all = () =>
      Promise.all(Object.entries(ask).map(async ([name, request]) => [name, (await request()).status] as const))
    await all()
    const refused: Array<string> = []
    for (let round = 0; round < ROUNDS; round++) {
      const [name, fault] = FAULTS[round % FAULTS.length]!
      await fault(served, round)
      await served.isBack()
      for (const [what, status] of await all()) {
        if (status !== 200) refused.push(`round ${round}, ${name}: ${what} ${status}`)
      }
    }
    expect(refused).toEqual([])
  },
  60_000 + ROUNDS * 30_000,
)
