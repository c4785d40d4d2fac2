/** Many cabinets on one server: the host name selects one, and nothing of one ever shows in another. */
import { CabinetHttp } from "@data-cabinet/http-node/routes/CabinetHttp"
import { cabinetName, Cabinets } from "@data-cabinet/http-node/routes/Cabinets"
import { Listener } from "@data-cabinet/http-node/server/Listener"
import * as Server from "@data-cabinet/http-node/routes/Server"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Context, Effect, Layer, ManagedRuntime, Result } from "effect"
import { request, type RequestOptions } from "node:http"
import { afterAll, assert, beforeAll, it } from "vitest"
import { cabinetHttp, countingAdmission, KEY, ORDERS, readiness } from "../support/apiServer.ts"

it("cabinetName is exactly the label in front of the service's domain", () => {
  const name = (host: string | undefined) => cabinetName(host, "Cabinet.test:8080")
  assert.equal(name("orders.cabinet.test"), "orders")
  assert.equal(name("Orders.Cabinet.TEST.:8080"), "orders")
  for (const host of [undefined, "", "cabinet.test", ".cabinet.test", "a.b.cabinet.test", "orders.cabinet.test.evil"]) {
    assert.equal(name(host), undefined, host)
  }
  for (const host of ["orderscabinet.test", "-a.cabinet.test", "a_b.cabinet.test", "a/..cabinet.test", "[::1]:80"]) {
    assert.equal(name(host), undefined, host)
  }
})

const build = (name: string) =>
  cabinetHttp({
    sources: { list: Effect.succeed([{ ...ORDERS, name }]) },
    // Only "one" accepts the key.
    admission: name === "one" ? countingAdmission() : { key: async () => Result.succeed(null) },
  })

const many = Layer.unwrap(
  Effect.gen(function* () {
    const one = Context.get(yield* Layer.build(build("one")), CabinetHttp)
    const two = Context.get(yield* Layer.build(build("two")), CabinetHttp)
    const all = new Map([
      ["one", one],
      ["two", two],
    ])
    return Cabinets.many("cabinet.test", async (name) =>
      name === "down"
        ? Result.fail(new StoreUnavailable({ message: "away", retryAfter: 2, outcomeUnknown: false }))
        : Result.succeed(all.get(name)),
    )
  }),
)

const runtime = ManagedRuntime.make(
  Server.layer({ metrics: false, host: "127.0.0.1", port: 0 }).pipe(Layer.provide([many, readiness()])),
)
let port = 0
beforeAll(async () => {
  port = (await runtime.runPromise(Listener)).port
})
afterAll(() => runtime.dispose())

const ask = (host: string, path = "/api/v1/sources", more: RequestOptions = {}) =>
  new Promise<readonly [number, string]>((resolve, reject) => {
    const headers = { host, authorization: `Bearer ${KEY}`, ...more.headers }
    request({ port, host: "127.0.0.1", path, ...more, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => (text += chunk))
      response.on("end", () => resolve([response.statusCode ?? 0, text]))
    })
      .on("error", reject)
      .end()
  })

it("Cabinets.many serves the cabinet that the host name selects", async () => {
  const [status, text] = await ask("one.cabinet.test")
  assert.equal(status, 200)
  assert.equal(JSON.parse(text).data[0].name, "one")
})

it("Cabinets.many accepts a key only in its own cabinet", async () => {
  assert.equal((await ask("two.cabinet.test"))[0], 401)
})

it("Cabinets.many responds with 404 to an unknown host, and with 503 while a cabinet cannot be looked up", async () => {
  assert.equal((await ask("three.cabinet.test"))[0], 404)
  assert.equal((await ask("127.0.0.1"))[0], 404)
  assert.equal((await ask("down.cabinet.test"))[0], 503)
})

it("Cabinets.many responds to senders in the intake's form, to people with a page", async () => {
  const send = (host: string, headers = {}) => ask(host, "/webhook/secret", { method: "POST", headers })
  const [unknown, text] = await send("three.cabinet.test")
  assert.deepEqual([unknown, JSON.parse(text).error], [404, "not_found"])
  const [away, why] = await send("down.cabinet.test")
  assert.deepEqual([away, JSON.parse(why).error], [503, "unavailable"])
  const form = { "content-type": "application/x-www-form-urlencoded", accept: "text/html" }
  for (const host of ["three.cabinet.test", "down.cabinet.test"]) {
    assert.match((await send(host, form))[1], /^<!doctype html>/i)
  }
})

it("Cabinets.many shows the counters only to a local client that requests a local host", async () => {
  const server = ManagedRuntime.make(
    Server.layer({ metrics: "here", host: "127.0.0.1", port: 0 }).pipe(Layer.provide([many, readiness()])),
  )
  const { port: own } = await server.runPromise(Listener)
  const status = async (host: string, headers: Record<string, string> = {}) =>
    (await ask(host, "/metrics", { port: own, headers }))[0]
  assert.equal(await status(`127.0.0.1:${own}`), 200)
  assert.equal(await status(`localhost:${own}`), 200)
  assert.equal(await status("one.cabinet.test"), 404)
  assert.equal(await status(`127.0.0.1:${own}`, { "x-forwarded-for": "203.0.113.9" }), 404)
  await server.dispose()
})

it("Cabinets.many serves the process's own addresses on any host, and metrics on their own port", async () => {
  assert.equal((await ask("127.0.0.1", "/healthz"))[0], 200)
  assert.equal((await ask("127.0.0.1", "/readyz"))[0], 200)
  assert.equal((await ask("one.cabinet.test", "/metrics"))[0], 404)
})
