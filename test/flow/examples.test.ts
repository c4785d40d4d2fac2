/** The examples, run by Node from the packed packages as a reader would run them, and used over the loopback. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createContext, runInContext } from "node:vm"
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest"
import { invite, People } from "@data-cabinet/core/person/People"
import { visitor } from "../support/browserSession.ts"
import { freePorts, packed, type Packed, type Running, start, stopAll } from "../support/packed.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"
import { testCabinet } from "../support/testCabinet.ts"

let here: Packed
let database: TestDatabase
let port: number
let site: string

beforeAll(async () => {
  here = await packed()
})
beforeEach(async () => {
  database = await testDatabase({ empty: true })
  port = (await freePorts(1))[0]!
  site = `http://127.0.0.1:${port}`
})
afterEach(() => database.drop())
afterAll(stopAll)

const example = (script: string, ready: RegExp): Promise<Running> =>
  start(join("examples", script), ready, here.app, { DATABASE_URL: database.url, PORT: String(port) })

/** Any JSON, for comparing with `toEqual`. */
const json = async (response: Response): Promise<unknown> => ({ status: response.status, body: await response.json() })

const postJson = (path: string, body: unknown) =>
  fetch(site + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })

/** Sends the page's form as a browser does, and returns what the page's table shows then, row by row. */
const sendForm = async (fields: Record<string, string>): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const [, action] = /action="([^"]+)"/.exec(await (await fetch(`${site}/`)).text())!
  const headers = { accept: "text/html,*/*;q=0.8" }
  const sent = await fetch(action!, { method: "POST", headers, body: new URLSearchParams(fields), redirect: "manual" })
  expect([sent.status, sent.headers.get("location")]).toEqual([303, `${site}/`])
  return [...(await (await fetch(`${site}/`)).text()).matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row]) =>
    [...row!.matchAll(/<td>(.*?)<\/td>/g)].map(([, cell]) => cell!),
  )
}

it("the Express app accepts its own orders and others', shows them, and ends on a signal", async () => {
  const app = await example("express/server.ts", /orders come in at (\S+)\n/)
  const intakeUrl = /come in at (\S+)\n/.exec(app.output())![1]!
  expect(intakeUrl).toMatch(`${site}/data/webhook/`)
  expect(await json(await postJson("/checkout", { customer: "Ada", total: "12.50" }))).toEqual({
    status: 201,
    body: { event: 1 },
  })
  const sent = await fetch(intakeUrl, { method: "POST", body: new URLSearchParams({ customer: "Alan", total: "30" }) })
  expect(await json(sent)).toEqual({ status: 200, body: { ok: true, id: 2, duplicate: false, empty: false } })
  const rows = (await (await fetch(`${site}/orders`)).json()) as ReadonlyArray<Record<string, unknown>>
  expect(rows.map((row) => [row["_event_id"], row["customer"]])).toEqual([
    [2, "Alan"],
    [1, "Ada"],
  ])
  expect(await sendForm({ customer: "<Grace>", total: "7" })).toEqual([
    ["&#60;Grace&#62;", "7"],
    ["Alan", "30"],
    ["Ada", "12.50"],
  ])
  await useConsole(intakeUrl, "orders")
  expect(await app.stop()).toBe(0)
  expect(app.output()).not.toMatch(/error/i)
})

/** The console below the app's path: a person signs in, filters a table, sees an event arrive, and issues a working key. */
const useConsole = async (intakeUrl: string, source: string) => {
  const owner = visitor(`${site}/data`)
  const store = testCabinet(database.url)
  const link = await store.runPromise(People.use((people) => invite(people, { name: "Grace Hopper", role: "owner" })))
  await store.dispose()
  expect((await owner.get("/console/tables")).headers.get("location")).toMatch(/^\/data\/console\/sign-in/)
  const entered = await owner.post("/console/welcome", { link: link.secret })
  expect([entered.status, entered.headers.get("location")?.startsWith("/data/console/")]).toEqual([303, true])
  expect(entered.headers.get("set-cookie")).toContain("Path=/data/")
  const table = (await owner.get(`/console/tables/sources/${source}?fc=customer&fo=eq&fv=Alan`)).text
  expect([table.includes("Alan"), table.includes(">Ada<")]).toEqual([true, false])
  const script = /<script type="module" src="([^"]+)"/.exec(table)![1]!
  expect((await fetch(site + script)).headers.get("content-type")).toMatch(/javascript/)
  const live = /data-live="([^"]+)"/.exec((await owner.get("/console/events")).text)![1]!.replaceAll("&amp;", "&")
  const stream = await fetch(site + live, { headers: { cookie: owner.cookie! } })
  await fetch(intakeUrl, { method: "POST", body: new URLSearchParams({ customer: "Grace" }) })
  let told = ""
  for await (const chunk of stream.body!) if ((told += Buffer.from(chunk).toString()).includes("data: ")) break
  expect(told).toContain("data: 1 1 0")
  const [, key] = /value="(dck_[^"]+)"/.exec((await owner.post("/console/keys", { name: "Shop" })).text)!
  expect((await fetch(`${site}/data/api/v1/sources`, { headers: { "x-api-key": key! } })).status).toBe(200)
}

it("the Fastify app passes bodies on as sent, parses those of its own routes, and serves the console", async () => {
  const app = await example("fastify/server.ts", /readings come in at (\S+)\n/)
  const intakeUrl = /come in at (\S+)\n/.exec(app.output())![1]!
  expect(await json(await postJson("/readings", { celsius: 21 }))).toEqual({
    status: 200,
    body: { id: 1, duplicate: false, empty: false },
  })
  const broken = await fetch(intakeUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"celsius": 21',
  })
  expect(await json(broken)).toMatchObject({ status: 400, body: { ok: false, error: "bad_json", id: 2 } })
  expect((await fetch(`${site}/data/api/v1/sources`)).status).toBe(401)
  expect((await sendForm({ room: "Attic", note: "Cold" }))[0]).toEqual(["Attic", "Cold"])
  for (const customer of ["Ada", "Alan"]) {
    await fetch(intakeUrl, { method: "POST", body: new URLSearchParams({ customer }) })
  }
  await useConsole(intakeUrl, "readings")
  expect(await app.stop()).toBe(0)
})

it("the Effect program serves a cabinet, uses it, and closes it", async () => {
  const program = await example("effect/program.ts", /Placed order/)
  expect(program.output()).toContain("Placed order 1, there are 1")
  expect((await fetch(`${site}/readyz`)).status).toBe(200)
  expect(await program.stop()).toBe(130)
})

it("the form is accepted with and without JavaScript", async () => {
  const server = await example("form/server.ts", /The form is at/)
  const page = await (await fetch(`${site}/`)).text()
  const action = /action="([^"]+)"/.exec(page)![1]!
  const asBrowser = { "content-type": "application/x-www-form-urlencoded", accept: "text/html,*/*;q=0.8" }
  const plain = await fetch(action, {
    method: "POST",
    headers: asBrowser,
    body: "name=Ada&message=Hello",
    redirect: "manual",
  })
  expect([plain.status, plain.headers.get("location")]).toEqual([303, `${site}/thanks`])
  expect(await (await fetch(`${site}/thanks`)).text()).toContain("We have got your message")

  expect(await submitWithScript(page, action, { name: "Alan", message: "Hi" })).toBe("Thank you. Your number is 2.")
  expect(await submitWithScript(page, action, { message: "Hi", name: "Alan" })).toBe("We have that message already.")
  expect(await server.stop()).toBe(0)
})

/** Runs the page's own script with the parts of a document that it uses; returns what it shows after a submission. */
const submitWithScript = async (page: string, action: string, fields: Record<string, string>): Promise<string> => {
  const script = /<script type="module">([\s\S]*)<\/script>/.exec(page)![1]!
  let submit: ((event: { preventDefault: () => void }) => Promise<void>) | undefined
  let prevented = false
  const outcome = { textContent: "" }
  const form = {
    action,
    reset: () => {},
    addEventListener: (_name: string, listener: NonNullable<typeof submit>) => (submit = listener),
  }
  const document = { querySelector: (selector: string) => (selector === "#contact" ? form : outcome) }
  class FormData {
    *[Symbol.iterator]() {
      yield* Object.entries(fields)
    }
  }
  runInContext(script, createContext({ document, fetch, FormData, URLSearchParams }))
  await submit!({ preventDefault: () => (prevented = true) })
  expect(prevented).toBe(true)
  return outcome.textContent
}

it("every example can be read in two minutes", () => {
  for (const file of [
    "express/server.ts",
    "fastify/server.ts",
    "next/lib/cabinet.ts",
    "next/lib/contact.ts",
    "next/app/page.tsx",
    "next/app/data/[...path]/route.ts",
    "effect/program.ts",
    "form/server.ts",
    "form/form.html",
  ]) {
    expect(readFileSync(join(here.app, "examples", file), "utf8").split("\n").length, file).toBeLessThan(75)
  }
})
