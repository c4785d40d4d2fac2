/**
 * A database that was restarted, killed or paused while nobody asked anything of it: the requests that come once it is back
 * are served, and none of them is the one that finds out. `ROUNDS` says how often; `npm run trials` does it a hundred times.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"

const DATABASE = "orders"
const ROUNDS = Number(process.env["ROUNDS"] ?? 6)
/** Longer than the time after which a silent database is looked at, and than the one after which it counts as lost. */
const PAUSES = [500, 4_000, 12_000]

let home: ClusterHome
let cluster: TestCluster
let server: ServerProcess

beforeAll(async () => {
  home = clusterHome()
  cluster = await home.init("own")
  await cluster.start()
  await cluster.createCabinet(DATABASE)
  server = await newHome().serve([], { DATABASE_URL: cluster.url(DATABASE), CABINET_INTAKE_RATE: "0" })
})
afterAll(async () => {
  await endAll()
  await home.remove()
})

/** The postmaster and its children, which are in no group of their own. */
const processes = (): ReadonlyArray<number> => {
  const [postmaster] = readFileSync(join(cluster.pgdata, "postmaster.pid"), "utf8").split("\n")
  const { stdout } = spawnSync("pgrep", ["-P", postmaster!], { encoding: "utf8" })
  return [Number(postmaster), ...stdout.split("\n").filter(Boolean).map(Number)]
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

const FAULTS: ReadonlyArray<readonly [name: string, fault: (round: number) => Promise<void>]> = [
  [
    "restarted",
    async () => {
      await cluster.end("SIGINT")
      await cluster.start()
    },
  ],
  [
    "killed",
    async () => {
      await cluster.end("SIGKILL")
      await cluster.start()
    },
  ],
  [
    "paused",
    async (round) => {
      const all = processes()
      tell("SIGSTOP", all)
      await sleep(PAUSES[Math.floor(round / FAULTS.length) % PAUSES.length]!)
      tell("SIGCONT", all)
    },
  ],
]

it(
  "no request gets a 503 that comes once the database is back",
  async () => {
    const { source, key } = server.welcome
    const headers = { "x-api-key": key!.key }
    const ask = {
      intake: () => fetch(server.baseUrl + source!.intake_path, { method: "POST", body: '{"n":1}' }),
      feed: () => fetch(`${server.baseUrl}/api/v1/events?limit=1`, { headers }),
      source: () => fetch(`${server.baseUrl}/api/v1/sources/${source!.id}`, { headers }),
    }
    const all = () =>
      Promise.all(Object.entries(ask).map(async ([name, request]) => [name, (await request()).status] as const))
    await all()
    const refused: Array<string> = []
    for (let round = 0; round < ROUNDS; round++) {
      const [name, fault] = FAULTS[round % FAULTS.length]!
      await fault(round)
      await cluster.run("SELECT 1")
      for (const [what, status] of await all()) {
        if (status !== 200) refused.push(`round ${round}, ${name}: ${what} ${status}`)
      }
    }
    expect(refused).toEqual([])
  },
  60_000 + ROUNDS * 30_000,
)
