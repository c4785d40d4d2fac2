/**
 * A server with its embedded PostgreSQL on a machine of 512 MB and one core: every sender, reader and file is served, and the
 * kernel ends nothing for want of memory, not even at the limit of the core. `SMALL_SECONDS` sets how long each kind of load
 * takes.
 */
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { load } from "../bench/load/load.ts"
import { getRequest, orderJson, postRequest } from "../bench/load/request.ts"
import { residentBytes } from "../bench/processCpu.ts"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { type SmallMachine, smallMachine } from "../support/smallMachine.ts"

const SECONDS = Number(process.env["SMALL_SECONDS"] ?? "5")
/** Requests a second, far from what the core can do. */
const RATES = { intake: 200, rows: 20, feed: 20 }
const FILE_ROWS = 100_000
const MB = 1_048_576

vi.setConfig({ testTimeout: (8 * SECONDS + 300) * 1_000 })

let machine: SmallMachine
let home: Home
let server: ServerProcess
beforeAll(async () => {
  machine = smallMachine({ bytes: 512 * MB, cores: 1 })
  home = newHome()
  const rates = { CABINET_API_RATE: "1000000", CABINET_INTAKE_RATE: "0" }
  server = await home.serve([], { ...rates, NODE_OPTIONS: machine.nodeOptions })
})
afterAll(async () => {
  await server.stop("SIGTERM")
  await endAll()
  // The kernel may still count a process that has just ended.
  await vi.waitFor(() => machine.remove(), { timeout: 10_000 })
})

const command = async (...args: ReadonlyArray<string>) => {
  const { code, stdout, stderr } = await home.cabinet([...args, "--json"])
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  return JSON.parse(stdout) as Record<string, string>
}

const upload = async (source: number, token: string) => {
  const form = new FormData()
  const lines = Array.from({ length: FILE_ROWS }, (_, n) => `${n},Ada Lovelace,ada${n}@example.com,Berlin,1249.50\n`)
  form.set("file", new Blob(["order,customer,email,city,total\n", ...lines]), "orders.csv")
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${server.baseUrl}/upload/${source}`, { method: "POST", headers, body: form })
  expect(answer.status, await answer.text()).toBeLessThan(300)
}

it("512 MB and one core serve senders, readers and a file at once, and no process runs out of memory", async () => {
  const port = Number(new URL(server.baseUrl).port)
  const key = server.welcome.key!.key
  const idle = residentBytes(server.pid)
  const run = (what: string, requests: ReadonlyArray<string>, connections: number, rate: number | null) => {
    const order = { port, requests, connections, rate, warmUp: 0, seconds: SECONDS, mayRefuse: rate === null }
    return load(order, { name: what, pid: server.pid }, () => 0)
  }
  const submissions = [postRequest(server.welcome.source!.intake_path, "application/json", orderJson())]
  const intake = () => run("intake", submissions, 16, RATES.intake)
  const first = await intake()
  const pages = [getRequest("/api/v1/tables/sources/first_source/rows?limit=1000", key)]
  const events = [getRequest("/api/v1/events?limit=1000", key)]
  const rows = () => run("rows", pages, 8, RATES.rows)
  const feed = () => run("feed", events, 4, RATES.feed)
  const files = await command("source", "add", "Files")
  const { token } = await command("token", "add", "files", "--role", "uploader")
  const [rowsAlone, feedAlone] = [await rows(), await feed()]
  const [together] = await Promise.all([intake(), rows(), feed(), upload(Number(files["id"]), token!)])
  const counted = async (table: string) => {
    const { stdout } = await home.cabinet(["sql", "--json"], {}, `SELECT count(*) AS count FROM sources.${table}`)
    return Number(/"count": ?"?(\d+)/.exec(stdout)![1])
  }
  await expect.poll(() => counted("files"), { timeout: 240_000 }).toBe(FILE_ROWS)
  const [full, fullRows, fullFeed] = await Promise.all([
    run("intake", submissions, 32, null),
    run("rows", pages, 16, null),
    run("feed", events, 8, null),
  ])
  expect(machine.killed()).toBe(0)
  expect(await counted("first_source")).toBeGreaterThanOrEqual(first.done + together.done + full.done)
  const kinds = { intake: first, rows: rowsAlone, feed: feedAlone, together, full, fullRows, fullFeed }
  for (const [what, { rate, p99, failures, firstFailure }] of Object.entries(kinds)) {
    if (firstFailure !== null) expect(firstFailure).toMatch(/^HTTP\/1\.1 503 .*\r\nretry-after: \d/isu)
    console.info(`${what}: ${Math.round(rate)} requests/s, p99 ${Math.round(p99)} ms, ${failures} refused`)
  }
  const sizes = [idle, residentBytes(server.pid), machine.mostBytes()].map((bytes) => Math.round(bytes / MB))
  console.info(`server: ${sizes[0]} MB when ready, ${sizes[1]} MB after it; all with caches at most ${sizes[2]} MB`)
})
