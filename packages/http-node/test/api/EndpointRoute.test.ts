/**
 * The frame of the API: the order of checks, keys, counts, methods, paths, faults. The ports are in memory, because no
 * rule here is SQL.
 */
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { ReadError } from "@data-cabinet/core/row/ReadError"
import { Effect, Option, Result } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { type ApiServer, countingAdmission, KEY, OTHER_KEY, type Ports, serveApi } from "../support/apiServer.ts"

let server: ApiServer | undefined
const open = async (ports: Ports = {}) => (server = await serveApi(ports))
afterEach(async () => {
  await server?.close()
  server = undefined
})

const error = (answer: { readonly status: number; readonly json: any }) => [
  answer.status,
  answer.json.error.type,
  answer.json.error.code,
  answer.json.error.param,
]

const noKey = { authorization: "" }
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const xApiKey = (key: string, authorization = "") =>
  ({ headers: { ...(authorization === "" ? {} : { authorization }), "x-api-key": key } }) as const

const unavailable = new StoreUnavailable({ message: "The database is away.", retryAfter: 3, outcomeUnknown: false })
const away = Effect.fail(unavailable)
const failed = Result.fail(unavailable)

describe("keys", () => {
  it("accepts a key from either header, and from both if they are equal", async () => {
    const { base } = await open()
    const status = async (headers: Record<string, string>) =>
      (await fetch(`${base}/api/v1/sources`, { headers })).status
    assert.equal(await status({ authorization: `Bearer ${KEY}` }), 200)
    assert.equal(await status({ authorization: `bearer  ${KEY}` }), 200)
    assert.equal(await status({ "x-api-key": KEY }), 200)
    assert.equal(await status({ authorization: `Bearer ${KEY}`, "x-api-key": KEY }), 200)
    assert.equal(await status({ authorization: `Bearer ${KEY}`, "x-api-key": OTHER_KEY }), 401)
    assert.equal(await status({ authorization: `Basic ${KEY}`, "x-api-key": KEY }), 401)
    assert.equal(await status({ authorization: KEY }), 401)
    assert.equal(await status({ "x-api-key": "" }), 401)
    assert.equal(await status({}), 401)
  })

  it("responds with 401 and WWW-Authenticate, without rate headers, when the key is wrong", async () => {
    const { ask } = await open()
    const answer = await ask("/api/v1/sources", bearer(`dck_${"x".repeat(43)}`))
    assert.deepEqual(error(answer), [401, "unauthorized", "invalid_key", null])
    assert.equal(answer.headers.get("www-authenticate"), "Bearer")
    assert.equal(answer.headers.get("x-ratelimit-limit"), null)
  })

  it("never accepts a key in the URL", async () => {
    const { ask } = await open()
    assert.equal((await ask(`/api/v1/sources?api_key=${KEY}`, { headers: noKey })).status, 401)
  })
})

describe("the order of checks", () => {
  const wrong = "?nope=1&limit=0"

  it("is method, key, rate, path, unknown parameter, parameter, existence", async () => {
    const { ask } = await open({ admission: countingAdmission(6) })
    assert.equal((await ask("/api/v1/sources/zero?nope=1", { method: "POST", headers: noKey })).status, 405)
    assert.equal((await ask("/api/v1/nowhere", { headers: noKey })).status, 404)
    assert.equal((await ask(`/api/v1/events${wrong}`, { headers: noKey })).status, 401)
    assert.deepEqual(error(await ask("/api/v1/sources/zero?nope=1")), [
      400,
      "invalid_request",
      "bad_source_id",
      "source_id",
    ])
    assert.deepEqual(error(await ask(`/api/v1/events?source_id=9&limit=0&nope=1`)).slice(2), ["unknown_param", "nope"])
    assert.deepEqual(error(await ask("/api/v1/events?source_id=9&limit=0")).slice(2), ["bad_limit", "limit"])
    assert.deepEqual(error(await ask("/api/v1/events?source_id=9")), [404, "not_found", "no_such_source", "source_id"])
    assert.equal((await ask("/api/v1/sources/9?nope=1")).status, 400)
    assert.equal((await ask("/api/v1/sources/9")).status, 404)
    assert.deepEqual(error(await ask(`/api/v1/events${wrong}`)).slice(0, 3), [429, "rate_limited", "rate_limited"])
  })

  it("counts down on every response to a valid key, errors included, and says when to retry", async () => {
    const { ask } = await open({ admission: countingAdmission(3) })
    const left = []
    for (const path of ["/api/v1/sources", "/api/v1/sources/7", "/api/v1/events?limit=x", "/api/v1/sources"]) {
      const { headers } = await ask(path)
      left.push([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining"), headers.get("retry-after")])
    }
    assert.deepEqual(left, [
      ["3", "2", null],
      ["3", "1", null],
      ["3", "0", null],
      ["3", "0", "17"],
    ])
  })

  it("counts down on responses that need no key if one was sent, and refuses none of them", async () => {
    const { ask } = await open({ admission: countingAdmission(2) })
    const left = async (path: string, init: RequestInit = {}) => {
      const { status, headers } = await ask(path, init)
      return [status, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]
    }
    assert.deepEqual(await left("/api/v1/nowhere"), [404, "2", "1"])
    assert.deepEqual(await left("/api/v1/sources", { method: "POST" }), [405, "2", "0"])
    assert.deepEqual(await left("/api/v1/docs"), [302, "2", "0"])
    assert.deepEqual(await left("/api/v1/nowhere", { headers: noKey }), [404, null, null])
    assert.deepEqual(await left("/api/v1/docs", bearer("wrong")), [302, null, null])
    assert.deepEqual(await left("/nowhere"), [404, null, null])
    assert.deepEqual(await left("/api/v1/nowhere", bearer(OTHER_KEY)), [404, "2", "1"])
  })

  it("responds to requests that need no key while the database is unavailable", async () => {
    const { ask } = await open({ admission: { key: async () => failed } })
    assert.equal((await ask("/api/v1/docs")).status, 302)
    assert.equal((await ask("/api/v1/nowhere")).status, 404)
    assert.equal((await ask("/api/v1/sources", { method: "POST" })).status, 405)
  })

  it("counts each key separately", async () => {
    const { ask } = await open({ admission: countingAdmission(1) })
    assert.equal((await ask("/api/v1/sources")).status, 200)
    assert.equal((await ask("/api/v1/sources")).status, 429)
    assert.equal((await ask("/api/v1/sources", bearer(OTHER_KEY))).status, 200)
    assert.equal((await ask("/api/v1/sources", xApiKey(OTHER_KEY, `Bearer ${OTHER_KEY}`))).status, 429)
  })
})

describe("paths and methods", () => {
  it("responds with 404 no_such_endpoint to an unknown path, compared exactly", async () => {
    const { ask } = await open()
    for (const path of [
      "/api/v1/",
      "/api/v1/Sources",
      "/api/v1/sources/",
      "/api/v1//sources",
      "/api/v1/sources/1/",
      "/api/v1/tables/sources",
      "/api/v1/tables/sources//rows",
      "/api/v1/tables/sources/orders/rows/1",
      "/api/v2/sources",
      "/api/v1",
      "/nowhere",
    ]) {
      assert.deepEqual(error(await ask(path)), [404, "not_found", "no_such_endpoint", null], path)
    }
  })

  it("responds with 405 and Allow: GET to every other method, known or not", async () => {
    const { ask } = await open()
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]) {
      for (const path of ["/api/v1/sources", "/api/v1/events", "/api/v1/openapi.json", "/api/v1/docs"]) {
        const answer = await ask(path, { method })
        assert.deepEqual(error(answer), [405, "invalid_request", "method_not_allowed", null], `${method} ${path}`)
        assert.equal(answer.headers.get("allow"), "GET")
      }
    }
  })

  it("responds to HEAD as to GET, without the body", async () => {
    const { ask } = await open()
    const get = await ask("/api/v1/sources")
    const head = await ask("/api/v1/sources", { method: "HEAD" })
    assert.equal(head.status, 200)
    assert.equal(head.text, "")
    for (const name of ["content-length", "content-type", "x-ratelimit-limit"]) {
      assert.equal(head.headers.get(name), get.headers.get(name), name)
    }
    assert.equal((await ask("/api/v1/sources/9", { method: "HEAD" })).status, 404)
  })

  it("decodes names in paths, also long ones", async () => {
    const asked: Array<ReadonlyArray<string>> = []
    const { ask } = await open({
      catalog: { find: (schema, name) => Effect.sync(() => (asked.push([schema, name]), Option.none())) },
    })
    const long = "ж".repeat(31)
    const names = [long, "a/b", "50%", "a+b", "?q", '"; DROP TABLE x; --', "名"]
    for (const name of names) {
      const answer = await ask(`/api/v1/tables/sources/${encodeURIComponent(name)}`)
      assert.deepEqual(error(answer).slice(0, 3), [404, "not_found", "no_such_table"], name)
    }
    assert.deepEqual(
      asked.map(([, name]) => name),
      names,
    )
  })

  it("treats a name with a broken escape or a zero byte as that of no table", async () => {
    const { ask } = await open()
    for (const path of ["%zz", "%ff", "%00", "a%"]) {
      assert.deepEqual(error(await ask(`/api/v1/tables/${path}/x`)).slice(0, 3), [404, "not_found", "no_such_table"])
      assert.equal((await ask(`/api/v1/tables/x/${path}/rows`)).status, 404)
      assert.deepEqual(error(await ask(`/api/v1/sources/${path}`)).slice(2), ["bad_source_id", "source_id"])
    }
  })

  it("accepts as a source's id only a positive integer that fits a bigint", async () => {
    const { ask } = await open()
    const code = async (id: string) => (await ask(`/api/v1/sources/${id}`)).json.error?.code ?? "found"
    for (const id of ["0", "-1", "+1", "1.0", "1e3", "x", "%20", "9223372036854775808", "1".repeat(400)]) {
      assert.equal(await code(id), "bad_source_id", id)
    }
    for (const id of ["2", "9007199254740993", "9223372036854775807"])
      assert.equal(await code(id), "no_such_source", id)
    assert.equal(await code("1"), "found")
  })
})

describe("trouble", () => {
  it("responds with 503 and Retry-After on every keyed endpoint while the database is unavailable", async () => {
    const { ask } = await open({ admission: { key: async () => failed } })
    for (const path of ["sources", "sources/1", "tables", "tables/a/b", "tables/a/b/rows", "events", "openapi.json"]) {
      const answer = await ask(`/api/v1/${path}`)
      assert.deepEqual(error(answer), [503, "unavailable", "reader_off", null], path)
      assert.equal(answer.headers.get("retry-after"), "3")
    }
  })

  it("keeps the rate headers when the database becomes unavailable after the key was counted", async () => {
    const { ask } = await open({ sources: { list: away, get: () => away }, catalog: { list: away, find: () => away } })
    for (const path of ["sources", "sources/1", "tables", "tables/a/b", "events?source_id=1"]) {
      const answer = await ask(`/api/v1/${path}`)
      assert.deepEqual(error(answer), [503, "unavailable", "reader_off", null], path)
      assert.equal(answer.headers.get("x-ratelimit-limit"), "120")
    }
  })

  it("shows a fault's id and logs the fault under it, never a stack or SQL", async () => {
    const { ask, logged } = await open({
      sources: { list: Effect.die(new Error("SELECT secret FROM cabinet.api_key")) },
    })
    const answer = await ask("/api/v1/sources")
    assert.deepEqual(error(answer), [500, "unavailable", "internal_error", null])
    assert.equal(answer.headers.get("x-ratelimit-remaining"), "119")
    assert.notMatch(answer.text, /SELECT|secret|at .*\.ts/)
    assert.match(answer.json.error.message, /[0-9a-f]{8}-[0-9a-f]{4}/)
    assert.match(logged.join("\n"), /SELECT secret/)
  })

  it("gives each reading error its status, and temporary ones Retry-After", async () => {
    for (const [code, status, type] of [
      ["table_busy", 409, "conflict"],
      ["query_failed", 409, "conflict"],
      ["query_timeout", 503, "unavailable"],
      ["reader_off", 503, "unavailable"],
    ] as const) {
      const { ask, close } = await open({
        rows: { page: async () => Result.fail(new ReadError({ code, message: "because", retryAfter: 2 })) },
      })
      const answer = await ask("/api/v1/tables/sources/orders/rows")
      assert.deepEqual(error(answer), [status, type, code, null])
      assert.equal(answer.json.error.message, "because")
      assert.equal(answer.headers.get("retry-after"), status === 503 ? "2" : null)
      await close()
    }
  })

  it("returns the description for any parameters, never a 400", async () => {
    const { ask } = await open()
    assert.equal((await ask("/api/v1/openapi.json?nope=1&limit=x")).status, 200)
    assert.equal((await ask("/api/v1/docs?nope=1", { headers: noKey })).status, 302)
  })
})
