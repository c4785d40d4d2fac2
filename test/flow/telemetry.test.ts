/**
 * A server's own output: request ids, a log, counters and traces for every step, and nothing secret in any of them, at the
 * highest level.
 */
import { writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { withDatabase } from "../support/postgres.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

interface Span {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Record<string, unknown> }>
}

let home: Home
const database = withDatabase()
let receiver: Receiver
let collector: Server
let items: Server
let server: ServerProcess
let env: Record<string, string>
/** Everything that went to the collector, as text. */
let exported = ""
const spans: Array<Span> = []

const portOf = (listening: Server) => (listening.address() as AddressInfo).port
const listen = (one: Server) => new Promise<Server>((resolve) => one.listen(0, "127.0.0.1", () => resolve(one)))

const POLL_SECRET = "poll-header-secret-91f7"
const RECEIVER_SECRET = "receiver-query-secret-52ab"

beforeAll(async () => {
  receiver = await startReceiver()
  items = await listen(createServer((_, response) => void response.end('[{"id":1}]')))
  collector = await listen(
    createServer((request, response) => {
      let text = ""
      request.on("data", (chunk) => (text += chunk))
      request.on("end", () => {
        exported += `${request.url} ${text}\n`
        const body = JSON.parse(text) as { resourceSpans?: ReadonlyArray<any> }
        for (const { scopeSpans } of body.resourceSpans ?? []) {
          for (const scope of scopeSpans) spans.push(...(scope.spans as ReadonlyArray<Span>))
        }
        response.end("{}")
      })
    }),
  )
  env = {
    DATABASE_URL: database.url,
    CABINET_ALLOWED_NETWORKS: "127.0.0.0/8",
    LOG_LEVEL: "debug",
    LOG_FORMAT: "json",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${portOf(collector)}`,
  }
  home = newHome()
  server = await home.serve([], env)
})
afterAll(async () => {
  await endAll()
  for (const one of [collector, items]) one.closeAllConnections()
  collector.close()
  items.close()
  await receiver.close()
})

const json = async (...args: ReadonlyArray<string>): Promise<any> => {
  const { code, stdout, stderr } = await home.cabinet([...args, "--json"], env)
  expect([code, stderr]).toEqual([0, ""])
  return JSON.parse(stdout)
}

const metrics = async () => (await fetch(`${server.baseUrl}/metrics`)).text()

/** The names that break Prometheus' conventions: counters end in `_total`, and every duration is in seconds. */
const againstConventions = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([line, name = "", type]) => {
    const isRight =
      name.startsWith("cabinet_") &&
      !/milli|micro|nano/.test(name) &&
      (type === "counter") === name.endsWith("_total") &&
      (type !== "histogram" || name.endsWith("_seconds"))
    return isRight ? [] : [line]
  })

it("every step is counted, logged and traced, without any secret", async () => {
  const key = server.welcome.key!.key
  const intake = server.welcome.source!.intake_url
  const secrets = [key, intake.split("/").at(-1)!, POLL_SECRET, RECEIVER_SECRET]
  const address = await json("address", "add", `${receiver.url}?token=${RECEIVER_SECRET}`)
  const operator = await json("operator", "add", "uploader")
  secrets.push(address.secret, operator.token)
  expect(secrets.every((secret) => typeof secret === "string" && secret.length > 15)).toBe(true)

  // Taken, refused by its size, broken, and at an address that is nearly right.
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
  const headers = { "x-request-id": "order-77", traceparent, "content-type": "application/json" }
  const taken = await fetch(`${intake}?note=q`, { method: "POST", headers, body: '{"total":1}' })
  expect([taken.status, taken.headers.get("x-request-id")]).toEqual([200, "order-77"])
  for (const [url, body] of [
    [intake, "x".repeat(2_000_000)],
    [intake, "{broken"],
    [`${intake}x`, "{}"],
  ] as const) {
    const refused = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
  }
  const read = async (path: string, bearer = key) => {
    const authorization = `Bearer ${bearer}`
    const response = await fetch(`${server.baseUrl}${path}`, { headers: { authorization, "x-request-id": "bad id\t" } })
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
    await response.text()
    return response.status
  }
  expect(await read("/api/v1/events?limit=5")).toBe(200)
  expect(await read("/api/v1/tables/sources/first_source/rows?q=private-value-7d1")).toBe(200)
  expect(await read("/api/v1/sources", `${key}0`)).toBe(401)
  secrets.push("private-value-7d1")
  await receiver.until((received) => received.length > 0)

  const form = new FormData()
  form.append("file", new File(["a,b\n1,2\n"], "rows.csv"))
  const authorization = `Bearer ${operator.token}`
  const upload = await fetch(`${server.baseUrl}/upload/1`, { method: "POST", headers: { authorization }, body: form })
  expect(upload.status).toBe(200)
  const headersFile = join(home.dir, "headers")
  writeFileSync(headersFile, `X-Key: ${POLL_SECRET}\n`)
  await json("poll", "add", "1", `http://127.0.0.1:${portOf(items)}/`, "--every", "10s", "--headers-file", headersFile)

  const stages = [
    "intake.parse",
    "intake.accept",
    "feed.page",
    "rows.read",
    "delivery.attempt",
    "import.stage",
    "import.accept",
    "poll.run",
  ]
  const counted = async (stage: string) => {
    const text = await metrics()
    return new RegExp(`cabinet_step_duration_seconds_count\\{[^}]*step="${stage.replace(".", "\\.")}"`).test(text)
  }
  // The poll is due at once, and run by the server's own loop, as the deliveries are.
  const uncounted = async () => {
    const missing = []
    for (const stage of stages) if (!(await counted(stage))) missing.push(stage)
    return missing
  }
  await expect.poll(uncounted).toEqual([])
  expect(againstConventions(await metrics())).toEqual([])
  expect(await metrics()).toMatch(/^cabinet_build_info\{version="[\d.]+",node="[\d.]+"\} 1$/m)

  expect(await server.stop("SIGTERM")).toBe(0)
  const names = new Set(spans.map(({ name }) => name))
  for (const name of [...stages, "POST /webhook/{intake_secret}", "GET /api/v1/events"]) expect(names).toContain(name)
  const request = spans.find(({ parentSpanId }) => parentSpanId === "b7ad6b7169203331")!
  expect(request).toMatchObject({ name: "POST /webhook/{intake_secret}", traceId: traceparent.slice(3, 35) })
  expect(request.attributes).toContainEqual({ key: "request.id", value: { stringValue: "order-77" } })
  const accepted = spans.find(({ name, traceId }) => name === "intake.accept" && traceId === request.traceId)!
  expect(accepted.parentSpanId).toBe(request.spanId)

  const log = server.log().trim().split("\n")
  const lines = log.map((line) => JSON.parse(line) as Record<string, string>)
  expect(lines).toContainEqual(
    expect.objectContaining({
      level: "DEBUG",
      requestId: "order-77",
      message: expect.stringMatching(/^POST \/webhook\/\{intake_secret\} 200 in /),
    }),
  )
  for (const secret of secrets) {
    expect(server.log()).not.toContain(secret)
    expect(exported).not.toContain(secret)
  }
})
