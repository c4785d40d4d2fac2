/**
 * What a client without valid credentials can make the server do, at any of its URLs: no query and no log line, or a
 * limited number a minute. The walk also finds URLs added later.
 */
import { ENDPOINTS } from "@data-cabinet/http-node/routes/ApiRoutes"
import { Listener } from "@data-cabinet/http-node/server/Listener"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { Layer, Logger, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { screens } from "../../packages/console/test/support/AllScreens.ts"
import { type CountingSocket, countingSocket } from "../support/countingSocket.ts"
import { withDatabase } from "../support/postgres.ts"
import { testServerLayer } from "../support/testCabinet.ts"

const database = withDatabase()
const lines: Array<string> = []
const logged = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])

let socket: CountingSocket
let base: string
let managed: ReadonlyArray<Target>
let owner: string
let close: () => Promise<void>

interface Target {
  readonly method: string
  readonly path: string
}

const atPath = (path: string) => path.replace(/\{[^{}]*\}/g, "1")

beforeAll(async () => {
  socket = await countingSocket(database.socketDir)
  const url = database.url.replace(encodeURIComponent(database.socketDir), encodeURIComponent(socket.directory))
  const http = {
    console: "on",
    oidcIssuer: "http://127.0.0.1:1",
    oidcClientId: "cabinet",
    trustedProxies: () => true,
  } as const
  const served = testServerLayer(url, { baseUrl: "http://cabinet.test", http, settings: { intakeRate: 300 } })
  const runtime = ManagedRuntime.make(Layer.provideMerge(served, logged))
  close = () => runtime.dispose()
  const { port } = await runtime.runPromise(Listener)
  base = `http://127.0.0.1:${port}`
  const { token } = await runtime.runPromise(
    AccessTokens.use((tokens) => tokens.issue({ name: "walk", role: "owner", expiresInSeconds: 3_600 })),
  )
  owner = token
  const described = await fetch(`${base}/manage/v1/openapi.json`, { headers: { authorization: `Bearer ${token}` } })
  const { paths } = (await described.json()) as { paths: Record<string, Record<string, unknown>> }
  managed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).flatMap((method) =>
      /^(?:get|post|put|patch|delete)$/.test(method) ? [{ method: method.toUpperCase(), path: atPath(path) }] : [],
    ),
  )
})
afterAll(async () => {
  await close()
  await socket.close()
})

let clients = 0
const anAddress = () => `198.51.${Math.floor(++clients / 250)}.${clients % 250}`

const ask = async (
  { method, path }: Target,
  headers: Record<string, string>,
  body = method === "GET" ? null : "{}",
) => {
  const response = await fetch(base + path, {
    method,
    redirect: "manual",
    body,
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", ...headers },
  })
  await response.arrayBuffer()
  return response.status
}

/**
 * What each of twenty attempts cost beyond the expected round trips; empty as soon as one cost no more, because background
 * work does not coincide with all of them.
 */
const costsOf = async (expected: number, work: () => Promise<unknown>): Promise<ReadonlyArray<string>> => {
  const costs: Array<string> = []
  for (let n = 0; n < 20; n++) {
    const before = lines.length
    const trips = await socket.during(work)
    if (trips <= expected && lines.length === before) return []
    costs.push([`${trips} queries`, ...lines.slice(before)].join("; "))
  }
  return costs
}

const CONSOLE: ReadonlyArray<Target> = screens().flatMap(({ path, post }) => [
  { method: "GET", path: atPath(path) },
  ...(post === undefined ? [] : [{ method: "POST", path: atPath(path) }]),
])

const READING: ReadonlyArray<Target> = ENDPOINTS.map(({ path }) => ({ method: "GET", path: atPath(path) }))

/** `/healthz` and `/readyz` are for a balancer, and share one check a second. */
const BESIDE: ReadonlyArray<Target> = [
  { method: "GET", path: "/" },
  { method: "GET", path: "/console/assets/console.css" },
  { method: "GET", path: "/api/v1/docs" },
  { method: "GET", path: "/manage/v1/docs" },
  { method: "POST", path: "/mcp" },
  { method: "POST", path: "/upload/1" },
]

/** Attempts to sign in and to send, which are counted: see the next test. */
const ATTEMPTS: ReadonlyArray<Target & { readonly form: string; readonly limit: number }> = [
  { method: "GET", path: "/console/sign-in/provider", form: "", limit: 30 },
  { method: "GET", path: "/console/sign-in/callback", form: "", limit: 30 },
  { method: "POST", path: "/console/sign-in", form: "name=Ada&password=wrong", limit: 10 },
]

const isAttempt = ({ method, path }: Target) => ATTEMPTS.some((one) => one.method === method && one.path === path)

it("a request without credentials costs no query and no log line, at any address", async () => {
  const all = [...CONSOLE, ...managed, ...READING, ...BESIDE].filter((target) => !isAttempt(target))
  assert.isAbove(all.length, 200)
  const costly: Array<string> = []
  for (const target of all) {
    const headers = { "x-forwarded-for": anAddress() }
    const [cost] = await costsOf(0, () => ask(target, headers))
    if (cost !== undefined) costly.push(`${target.method} ${target.path}: ${cost}`)
  }
  assert.deepStrictEqual(costly, [])
})

it("a form's challenge costs no query and no log line once its source is known", async () => {
  const headers = { authorization: `Bearer ${owner}` }
  const body = JSON.stringify({ name: "Form", proof: { kind: "altcha" } })
  const made = await fetch(`${base}/manage/v1/sources`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body,
  })
  const { intake_url: url } = (await made.json()) as { readonly intake_url: string }
  const target = { method: "GET", path: `${new URL(url).pathname}/challenge` }
  const challenge = () => ask(target, { "x-forwarded-for": anAddress() })
  assert.strictEqual(await challenge(), 200)
  const statuses = new Set<number>()
  const challenges = async () => {
    for (let n = 0; n < 10; n++) statuses.add(await challenge())
  }
  assert.deepStrictEqual(await costsOf(0, challenges), [])
  assert.deepStrictEqual([...statuses], [200])
})

const COOKIE = ["cabinet", "cabinet-browser", "cabinet-form", "cabinet-done", "cabinet-sign-in"]
  .map((name) => `${name}=dcs_${"A".repeat(43)}`)
  .join("; ")

it("a request with a wrong session costs one query and no log line, at any address", async () => {
  const costly: Array<string> = []
  for (const target of [...CONSOLE, ...managed].filter((one) => !isAttempt(one))) {
    const headers = { "x-forwarded-for": anAddress(), cookie: COOKIE }
    const [cost] = await costsOf(1, () => ask(target, headers))
    if (cost !== undefined) costly.push(`${target.method} ${target.path}: ${cost}`)
  }
  assert.deepStrictEqual(costly, [])
})

it.each(ATTEMPTS)(
  "$method $path is refused for an address after $limit a minute, without a query or a log line",
  async (target) => {
    for (const cookie of ["", COOKIE]) {
      const headers = { "x-forwarded-for": anAddress(), cookie, "content-type": "application/x-www-form-urlencoded" }
      const attempt = () => ask(target, headers, target.form === "" ? null : target.form)
      const statuses: Array<number> = []
      const before = lines.length
      // A minute may end in the meantime, so up to twice as many are let through.
      const most = 2 * target.limit
      for (let n = 0; n < most + 2; n++) statuses.push(await attempt())
      assert.include(statuses, 429)
      assert.isAtMost(lines.length - before, most)
      assert.isAtMost(statuses.filter((status) => status !== 429).length, most)
    }
  },
)
