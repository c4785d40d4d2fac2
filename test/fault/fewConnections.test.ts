/**
 * A PostgreSQL with few connections, like small managed ones: events are accepted and commands run, whatever else the
 * processes of a cabinet do. And one whose connections other programs have used up: the server reports that it is not ready,
 * logs it once, and recovers by itself.
 */
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"
import { type RawSession, rawSession } from "../support/rawSession.ts"

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let clusters: ClusterHome
let home: Home
beforeAll(() => {
  clusters = clusterHome()
  home = newHome()
})
afterAll(async () => {
  await endAll()
  await clusters.remove()
})

const small = async (name: string, maxConnections: string): Promise<TestCluster> => {
  const cluster = await clusters.init(name)
  await cluster.start({ max_connections: maxConnections })
  await cluster.createCabinet("cabinet")
  return cluster
}
const environmentOf = (cluster: TestCluster) => ({ DATABASE_URL: cluster.url("cabinet"), CABINET_INTAKE_RATE: "0" })

const post = async (url: string, n: number) => {
  const { status } = await fetch(url, { method: "POST", body: JSON.stringify({ n }) })
  return status
}
/** Sends events while rows, events and lists are read, so that every pool wants its sessions. */
const work = async ({ baseUrl }: ServerProcess, intakeUrl: string, key: string) => {
  const headers = { authorization: `Bearer ${key}` }
  const read = async (path: string) => (await fetch(baseUrl + path, { headers })).status
  const paths = ["/api/v1/events", "/api/v1/tables", "/api/v1/sources", "/api/v1/deliveries", "/api/v1/addresses"]
  const statuses: Array<number> = []
  for (let round = 0; round < 6; round++) {
    const sent = Array.from({ length: 12 }, (_, n) => post(intakeUrl, round * 100 + n))
    const reads = paths.flatMap((path) => [read(path), read(path)])
    statuses.push(...(await Promise.all(sent)))
    await Promise.all(reads)
  }
  return statuses
}

it("a server, a worker and a command work with 20 connections", async () => {
  const env = environmentOf(await small("twenty", "20"))
  const server = await home.serve(["--no-delivery"], env)
  const worker = home.start(["worker", "--json"], env)
  await new Promise<void>((resolve) => worker.stdout!.once("data", () => resolve()))
  const { source, key } = server.welcome
  const statuses = await work(server, source!.intake_url, key!.key)
  expect(statuses.filter((status) => status !== 200)).toEqual([])
  const command = await home.cabinet(["source", "list", "--json"], env)
  expect(command).toMatchObject({ code: 0, stderr: "" })
  expect((await fetch(`${server.baseUrl}/readyz`)).status).toBe(200)
  await server.stop("SIGINT")
  worker.kill("SIGINT")
})

it("two servers work with 30 connections", async () => {
  const env = environmentOf(await small("thirty", "30"))
  const servers = [await home.serve([], env), await home.serve([], env)]
  const { source, key } = servers[0]!.welcome
  const statuses = await Promise.all(
    servers.map((server) => work(server, server.baseUrl + new URL(source!.intake_url).pathname, key!.key)),
  )
  expect(statuses.flat().filter((status) => status !== 200)).toEqual([])
  for (const server of servers) await server.stop("SIGINT")
})

/** Takes every connection, as waiting programs would, after ending the connections of the cabinet's processes. */
const takeAll = async ({ run, socketDir }: TestCluster): Promise<ReadonlyArray<RawSession>> => {
  const taken: Array<RawSession> = []
  const ours = "FROM pg_stat_activity WHERE application_name LIKE 'data-cabinet%'"
  for (;;) {
    const one = await rawSession({ socketDir, name: "cabinet" }).catch(() => undefined)
    if (one !== undefined) taken.push(one)
    else if ((await run(`SELECT pg_terminate_backend(pid) ${ours}`)).length === 0) return taken
  }
}

it("/readyz is 503 while other programs leave no connection for a writer, which is logged once, and recovers", async () => {
  const cluster = await small("taken", "20")
  const server = await home.serve([], environmentOf(cluster))
  const { intake_url: url } = server.welcome.source!
  expect(await post(url, 1)).toBe(200)
  const taken = await takeAll(cluster)
  const ready = async () => {
    const answer = await fetch(`${server.baseUrl}/readyz`)
    return { status: answer.status, ...((await answer.json()) as object) }
  }
  for (let n = 0; n < 4; n++) expect(await Promise.all([post(url, n), post(url, n)])).toEqual([503, 503])
  await expect.poll(ready).toMatchObject({ status: 503, error: expect.stringMatching(/accepts no more connections/) })
  expect(server.log().match(/accepting events was interrupted: it accepts no more connections/g)).toHaveLength(1)
  for (const one of taken) one.end()
  await expect.poll(ready).toMatchObject({ status: 200 })
  await expect.poll(() => post(url, 1)).toBe(200)
  expect(server.log()).toMatch(/events are accepted again/)
  await server.stop("SIGINT")
})
