/** A server of several cabinets by host name: they see nothing of each other, and a broken one does not affect the others. */
import { request } from "node:http"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { runSql } from "../support/postgresAdmin.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"

const DOMAIN = "cabinets.test"
const tag = `${process.pid}`
const [orders, forms, elsewhere] = [`orders-${tag}`, `forms-${tag}`, `elsewhere-${tag}`] as const

// Each command is a process of its own.
vi.setConfig({ testTimeout: 90_000 })

let own: TestDatabase
let other: TestDatabase
let home: Home
let server: ServerProcess
let env: Record<string, string>

const command = async (...args: ReadonlyArray<string>): Promise<any> => {
  const { code, stdout, stderr } = await home.cabinet([...args, "--json"], env)
  expect(stderr).toBe("")
  expect(code).toBe(0)
  return JSON.parse(stdout)
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly json: any
}

/** A request to the server for the cabinet that the host names. */
const ask = (host: string, path: string, options: { readonly key?: string; readonly body?: object } = {}) =>
  new Promise<Answer>((resolve, reject) => {
    const headers: Record<string, string> = { host, "content-type": "application/json" }
    if (options.key !== undefined) headers["x-api-key"] = options.key
    const method = options.body === undefined ? "GET" : "POST"
    const sent = request(new URL(path, server.baseUrl), { method, headers }, (response) => {
      let text = ""
      response.on("data", (chunk) => (text += chunk))
      response.on("end", () =>
        resolve({ status: response.statusCode!, headers: response.headers, json: JSON.parse(text || "null") }),
      )
    })
    sent.on("error", reject)
    sent.end(options.body === undefined ? undefined : JSON.stringify(options.body))
  })

const hostOf = (name: string) => `${name}.${DOMAIN}`

/** Creates a source and a key of a cabinet by commands, while the server runs. */
const begin = async (name: string) => ({
  host: hostOf(name),
  source: await command("source", "add", "Orders", "--cabinet", name),
  key: (await command("key", "add", "reader", "--cabinet", name)).key as string,
})

beforeAll(async () => {
  ;[own, other] = await Promise.all([testDatabase(), testDatabase({ empty: true })])
  home = newHome()
  env = { DATABASE_URL: own.url, CABINET_SERVICE_DOMAIN: DOMAIN }
  server = await home.serve([], env)
})

afterAll(async () => {
  await endAll()
  for (const name of [orders, forms]) {
    await runSql(own.superuserUrl, `DROP DATABASE IF EXISTS cabinet_${name.replaceAll("-", "_")} WITH (FORCE)`)
  }
  await Promise.all([own.drop(), other.drop()])
})

it("serves each cabinet at its own host, and shows nothing of one in another", async () => {
  expect(await command("cabinets", "add", orders)).toMatchObject({
    name: orders,
    base_url: `https://${hostOf(orders)}`,
  })
  await command("cabinets", "add", forms)
  const [one, two] = await Promise.all([begin(orders), begin(forms)])
  expect(one.source.intake_url).toBe(`https://${one.host}${one.source.intake_path}`)

  const sent = await ask(one.host, one.source.intake_path, { body: { total: 7 } })
  expect(sent.json).toMatchObject({ ok: true })
  expect((await ask(one.host, "/api/v1/events", one)).json.data).toMatchObject([
    { id: sent.json.id, payload: { total: 7 } },
  ])
  expect((await ask(two.host, "/api/v1/events", two)).json.data).toEqual([])

  // Keys, secrets and counts are separate for each cabinet, although ids and names are the same.
  expect((await ask(two.host, "/api/v1/events", one)).json.error.code).toBe("invalid_key")
  expect((await ask(two.host, one.source.intake_path, { body: { total: 8 } })).status).toBe(404)
  const rows = (cabinet: typeof one) => ask(cabinet.host, "/api/v1/tables/sources/orders/rows", cabinet)
  expect((await rows(one)).json.data).toMatchObject([{ total: 7 }])
  const unlike = await rows(two)
  expect(unlike.json.data).toEqual([])
  expect(unlike.headers["x-ratelimit-remaining"]).toBe("118")
})

it("refuses any other host", async () => {
  for (const host of [DOMAIN, `unknown.${DOMAIN}`, `a.${hostOf(orders)}`, "127.0.0.1"]) {
    expect((await ask(host, "/api/v1/sources", { key: "x" })).status).toBe(404)
  }
  expect((await ask("127.0.0.1", "/readyz")).json).toEqual({ ok: true })
})

it("responds with 503 for a cabinet whose database is lost, in the form of each interface, and serves the others", async () => {
  await command("cabinets", "add", elsewhere, "--database-url", other.url)
  const { host, source, key } = await begin(elsewhere)
  expect((await ask(host, source.intake_path, { body: { a: 1 } })).status).toBe(200)
  await other.drop()
  const api = await ask(host, "/api/v1/events", { key })
  expect(api).toMatchObject({ status: 503, json: { error: { type: "unavailable", code: "reader_off" } } })
  expect(api.headers["retry-after"]).toBeDefined()
  expect(await ask(host, source.intake_path, { body: { a: 2 } })).toMatchObject({
    status: 503,
    json: { ok: false, error: "unavailable" },
  })
  const alive = await ask(hostOf(orders), "/api/v1/openapi.json")
  expect(alive.status).toBe(401)
})

it("tenant list shows no login, and remove stops serving a cabinet and keeps its database", async () => {
  const listed = await command("cabinets", "list")
  expect(listed.map((one: { name: string }) => one.name).sort()).toEqual([elsewhere, forms, orders].sort())
  expect(JSON.stringify(listed)).not.toContain("@")
  await command("cabinets", "remove", forms)
  await expect.poll(async () => (await ask(hostOf(forms), "/api/v1/sources", { key: "x" })).status).toBe(404)
  const [kept] = await own.run(
    `SELECT 1 AS there FROM pg_database WHERE datname = 'cabinet_${forms.replaceAll("-", "_")}'`,
  )
  expect(kept).toEqual({ there: 1 })
})

it("tenant add refuses an invalid name, a taken one, and an invalid URL, with a message", async () => {
  const refused = async (...args: ReadonlyArray<string>) => {
    const { code, stderr } = await home.cabinet(["tenant", "add", ...args], env)
    expect(code).toBe(1)
    return stderr
  }
  expect(await refused("No_Label")).toContain("lowercase letters")
  expect(await refused(orders)).toBe(`There is already a cabinet ${orders}.\n`)
  expect(await refused("other", "--database-url", own.urlAs("cabinet").replace(own.name, "nowhere"))).toContain(
    "nowhere",
  )
  const { code, stderr } = await home.cabinet(["key", "list", "--cabinet", "nobody"], env)
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("Cabinet nobody does not exist") })
})
