/** One server of several processes behind one port: exact limits and repeats, a worker that dies, and announced shutdown. */
import { execFileSync } from "node:child_process"
import { Agent, request } from "node:http"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { beginMinute } from "../support/minute.ts"
import { withDatabase } from "../support/postgres.ts"

const WORKERS = 3
const RATE = 20

const database = withDatabase()
let server: ServerProcess
let exited = false

beforeAll(async () => {
  server = await newHome().serve(["--workers", String(WORKERS)], {
    DATABASE_URL: database.url,
    CABINET_INTAKE_RATE: String(RATE),
    CABINET_DRAIN_TIME: "10s",
  })
})
afterAll(async () => {
  if (!exited) await endAll()
})

interface Answer {
  readonly status: number
  readonly connection: string | undefined
  readonly text: string
}

interface Asked {
  readonly form?: string
  readonly key?: string
  readonly agent?: Agent
}

/** Sends on a new connection each time, so that the workers take turns. */
const ask = (url: string, { form, key, agent }: Asked = {}) =>
  new Promise<Answer>((resolve, reject) => {
    const headers = {
      ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
      ...(key === undefined ? {} : { "x-api-key": key }),
    }
    const sent = request(
      url,
      { method: form === undefined ? "GET" : "POST", agent: agent ?? false, headers },
      (response) => {
        let text = ""
        response.on("data", (chunk) => (text += chunk))
        response.on("end", () =>
          resolve({ status: response.statusCode!, connection: response.headers.connection, text }),
        )
      },
    )
    sent.on("error", reject)
    sent.end(form)
  })

const intake = () => server.welcome.source!.intake_url

const metrics = async () => (await ask(`${server.baseUrl}/metrics`)).text

it("exactly one of equal bodies that reach all workers concurrently is the first", async () => {
  await beginMinute(database)
  const answers = await Promise.all(Array.from({ length: RATE }, () => ask(intake(), { form: "same=1" })))
  const firsts = answers.filter(({ text }) => !(JSON.parse(text) as { duplicate: boolean }).duplicate)
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  expect(firsts).toHaveLength(1)
})

it("a worker that is killed is replaced while the others serve", async () => {
  await beginMinute(database)
  const workers = execFileSync("ps", ["-o", "pid=,args=", "--ppid", String(server.pid)], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes("bin.mjs"))
    .map((line) => Number.parseInt(line, 10))
  expect(workers).toHaveLength(WORKERS)
  process.kill(workers[0]!, "SIGKILL")
  for (let serving = 0; serving < WORKERS;) {
    // Only connections of the killed worker are lost.
    const text = await metrics().catch(() => "")
    serving = /^cabinet_workers_replaced_total 1$/m.test(text)
      ? Number(/^cabinet_workers_serving (\d+)$/m.exec(text)?.[1])
      : 0
  }
  expect(server.log()).toMatch(/worker \d exited \(SIGKILL\) and is being replaced/)
  expect((await ask(intake(), { form: "after=1" })).status).toBe(200)
})

it("the limit of a source is exact over all workers, and every worker handles its share", async () => {
  await beginMinute(database)
  const answers = await Promise.all(Array.from({ length: 3 * RATE }, (_, n) => ask(intake(), { form: `n=${n}` })))
  const taken = answers.filter(({ status }) => status === 200)
  expect(taken).toHaveLength(RATE)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(2 * RATE)
  // A worker that does not respond in time is left out of one response.
  let text = ""
  const workersOf = async () => {
    text = await metrics()
    return [...text.matchAll(/^cabinet_http_requests_total\{worker="(\d+)",.*webhook/gm)].map(([, worker]) => worker)
  }
  const all = Array.from({ length: WORKERS }, (_, n) => String(n + 1))
  await expect.poll(workersOf).toEqual(expect.arrayContaining(all))
  expect(text.match(/^# TYPE cabinet_http_requests_total counter$/gm)).toHaveLength(1)
})

it("SIGTERM is reported by /readyz immediately, and requests until the end of the drain time get responses", async () => {
  const kept = new Agent({ keepAlive: true, maxSockets: 1 })
  expect((await ask(`${server.baseUrl}/healthz`, { agent: kept })).connection).toBe("keep-alive")
  const ended = server.stop("SIGTERM")
  let answer = await ask(`${server.baseUrl}/readyz`)
  while (answer.status === 200) answer = await ask(`${server.baseUrl}/readyz`)
  expect(answer).toMatchObject({ status: 503, connection: "close" })
  expect(answer.text).toContain("stopping")
  const late = await ask(`${server.baseUrl}/api/v1/sources`, { key: server.welcome.key!.key })
  expect(late).toMatchObject({ status: 200, connection: "close" })
  expect(await ended).toBe(0)
  exited = true
  await expect(ask(`${server.baseUrl}/healthz`)).rejects.toThrow("ECONNREFUSED")
  // PostgreSQL notices a moment later that a session's client has ended.
  const left = () =>
    database.run(
      "SELECT application_name FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'data-cabinet%'",
    )
  await expect.poll(left).toEqual([])
})
