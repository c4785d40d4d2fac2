import { assert, afterAll, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Effect } from "effect"
import { intakeServer, SECRET } from "./intakeServer.ts"
import type { IntakeServer } from "./intakeServer.ts"

let server: IntakeServer
beforeAll(async () => {
  server = await intakeServer()
})
afterAll(() => server.close())
beforeEach(() => {
  Object.assign(server.state, {
    source: { id: 7, version: 1, encoding: null, thanksUrl: null, kept: null, verification: null },
    clientAllowed: true,
    sourceAllowed: true,
    asked: [],
    appended: [],
    instead: undefined,
  })
})

const JSON_TYPE = { "content-type": "application/json" }
const BROWSER = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "accept-language": "ru-RU,ru;q=0.9,en;q=0.8",
}
const FORM = { "content-type": "application/x-www-form-urlencoded" }

const jsonOf = async (response: Response) => {
  assert.strictEqual(response.headers.get("content-type"), "application/json")
  return (await response.json()) as Record<string, unknown>
}

describe("what is accepted", () => {
  it("responds with an object to an object, a form or query fields", async () => {
    const asked = [
      server.post('{"a":1.0}', JSON_TYPE),
      server.post("a=1", FORM),
      server.post(null, {}, "?a=1"),
      server.post('{"a":1}', { "content-type": "application/problem+json; charset=utf-8" }),
    ]
    for (const response of await Promise.all(asked)) {
      assert.strictEqual(response.status, 200)
      const body = await jsonOf(response)
      assert.deepStrictEqual(Object.keys(body), ["ok", "id", "duplicate", "empty"])
      assert.deepInclude(body, { ok: true, duplicate: false, empty: false })
    }
  })

  it("responds with a batch in order to an array of objects", async () => {
    const response = await server.post('[{"a":1},{}]', JSON_TYPE)
    assert.strictEqual(response.status, 200)
    assert.deepStrictEqual(await jsonOf(response), {
      ok: true,
      count: 2,
      results: [
        { id: 1, duplicate: false, empty: false },
        { id: 2, duplicate: false, empty: true },
      ],
    })
  })

  it("keeps an empty body of any type", async () => {
    for (const type of ["application/json", "multipart/form-data", "image/png"]) {
      const response = await server.post(null, { "content-type": type })
      assert.deepInclude(await jsonOf(response), { ok: true, empty: true })
    }
    assert.deepStrictEqual(server.payloads(), ["{}", "{}", "{}"])
  })

  it("responds with 400 and the event's id when the body is not an object", async () => {
    for (const [body, error] of [
      ['{"a":', "bad_json"],
      ["12", "not_an_object"],
      ["[]", "not_an_object"],
      ['[{"a":1},2]', "not_an_object"],
    ] as const) {
      const response = await server.post(body, JSON_TYPE)
      assert.strictEqual(response.status, 400)
      const answer = await jsonOf(response)
      assert.deepStrictEqual(Object.keys(answer), ["ok", "error", "detail", "id", "empty"])
      assert.deepInclude(answer, { ok: false, error, id: server.state.appended.length, empty: true })
    }
  })

  it("keeps the five headers and the client's address, and nothing else of a request", async () => {
    await server.post('{"a":1}', {
      ...JSON_TYPE,
      referer: "https://shop.example/order",
      origin: "https://shop.example",
      "user-agent": "Тест"
        .split("")
        .map((c) => Buffer.from(c).toString("latin1"))
        .join(""),
      "accept-language": "ru",
      cookie: "session=very-private",
      authorization: "Bearer very-private",
    })
    const [{ original }] = server.state.appended as [(typeof server.state.appended)[0]]
    assert.deepInclude(original, {
      contentType: "application/json",
      ip: "127.0.0.1",
      referer: "https://shop.example/order",
      origin: "https://shop.example",
      userAgent: "Тест",
      acceptLanguage: "ru",
    })
    assert.notInclude(JSON.stringify(server.state.appended), "very-private")
  })
})

describe("the order of checks", () => {
  it("refuses an unsupported method before any other check", async () => {
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      const response = await fetch(server.url, { method })
      assert.strictEqual(response.status, 405)
      assert.strictEqual(response.headers.get("allow"), "POST")
      assert.strictEqual(response.headers.get("access-control-allow-origin"), "*")
      assert.deepInclude(await response.json(), { ok: false, error: "method_not_allowed" })
    }
    assert.deepStrictEqual(server.state.asked, [])
  })

  it("counts the client before it looks up the source, and the source before it reads the body", async () => {
    const huge = new Uint8Array(1_048_577)
    server.state.clientAllowed = false
    const client = await fetch(`${server.base}/webhook/none`, { method: "POST", body: huge })
    assert.strictEqual(client.status, 429)
    server.state.clientAllowed = true
    const missing = await fetch(`${server.base}/webhook/none`, { method: "POST", body: huge })
    assert.strictEqual(missing.status, 404)
    server.state.sourceAllowed = false
    assert.strictEqual((await server.post(huge)).status, 429)
    server.state.sourceAllowed = true
    assert.strictEqual((await server.post(huge, JSON_TYPE)).status, 413)
    assert.deepStrictEqual(server.state.asked.slice(0, 3), ["client 127.0.0.1", "client 127.0.0.1", "source"])
  })
})

describe("what is refused", () => {
  it("says how long to wait when there are too many requests", async () => {
    server.state.sourceAllowed = false
    const response = await server.post("{}", JSON_TYPE)
    assert.strictEqual(response.status, 429)
    assert.strictEqual(response.headers.get("retry-after"), "42")
    const body = await jsonOf(response)
    assert.deepStrictEqual(Object.keys(body), ["ok", "error", "detail", "retry_after"])
    assert.deepInclude(body, { ok: false, error: "rate_limited", retry_after: 42 })
  })

  it("responds with 404 for a wrong, a malformed and a missing secret", async () => {
    for (const path of ["/webhook/wrong", "/webhook/%zz", "/webhook/%00", "/webhook/", "/webhook"]) {
      const response = await fetch(server.base + path, { method: "POST", body: "{}" })
      assert.strictEqual(response.status, 404)
      assert.deepInclude(await jsonOf(response), { ok: false, error: "not_found" })
    }
    assert.deepStrictEqual(server.state.appended, [])
  })

  it("counts a batch that is too long", async () => {
    const response = await server.post(JSON.stringify(Array.from({ length: 101 }, () => ({}))), JSON_TYPE)
    assert.strictEqual(response.status, 413)
    assert.deepInclude(await jsonOf(response), { ok: false, error: "too_many_items", limit: 100, count: 101 })
    assert.strictEqual(
      (await server.post(JSON.stringify(Array.from({ length: 100 }, () => ({}))), JSON_TYPE)).status,
      200,
    )
  })

  it("responds with 503 and Retry-After when the store is unavailable, and distinguishes an unknown outcome", async () => {
    for (const outcomeUnknown of [false, true]) {
      server.state.instead = Effect.fail(new StoreUnavailable({ message: "gone", retryAfter: 3, outcomeUnknown }))
      const response = await server.post("{}", JSON_TYPE)
      assert.strictEqual(response.status, 503)
      assert.strictEqual(response.headers.get("retry-after"), "3")
      const body = await jsonOf(response)
      assert.deepInclude(body, { ok: false, error: "unavailable", retry_after: 3 })
      assert.strictEqual(/unknown whether/.test(String(body["detail"])), outcomeUnknown)
    }
  })

  it("waits for the store no longer than its limit, whichever step is slow", async () => {
    const hasty = await intakeServer({ store: 50 })
    hasty.state.admission = Effect.never
    const asking = await hasty.post("{}", JSON_TYPE)
    hasty.state.admission = Effect.void
    hasty.state.gate = Effect.never
    const writing = await hasty.post("{}", JSON_TYPE)
    await hasty.close()
    assert.deepStrictEqual([asking.status, writing.status], [503, 503])
    assert.isAtLeast(Number(writing.headers.get("retry-after")), 1)
    assert.match(String((await jsonOf(asking))["detail"]), /Nothing can be saved right now/)
    assert.match(String((await jsonOf(writing))["detail"]), /unknown whether this was saved/)
  })

  it("responds to an internal fault with its id, and reveals neither fault nor address", async () => {
    server.state.instead = Effect.die(new Error("SELECT secrets FROM inside"))
    const response = await server.post("{}", JSON_TYPE)
    assert.strictEqual(response.status, 500)
    const text = await response.text()
    assert.match(text, /"error":"internal_error".*[0-9a-f-]{36}/)
    assert.notMatch(text, new RegExp(`SELECT|${SECRET}`))
  })
})

describe("a sender that checks the address first", () => {
  const ASKS = { "webhook-request-origin": "events.example" }
  const unknown = () => `${server.base}/webhook/wrong`
  const look = (url = server.url) => fetch(url, { method: "HEAD" })
  const permit = (url = server.url, headers: Record<string, string> = ASKS) =>
    fetch(url, { method: "OPTIONS", headers })

  it("gets 200 without a body if the source exists, and nothing is stored", async () => {
    const response = await look()
    assert.strictEqual(response.status, 200)
    assert.strictEqual(response.headers.get("access-control-allow-origin"), "*")
    assert.strictEqual(await response.text(), "")
    assert.deepStrictEqual(server.state.appended, [])
    assert.include(server.state.asked[0], "client ")
    assert.include(server.state.asked, "rate")
  })

  it("gets 404 when the address is unknown", async () => {
    assert.strictEqual((await look(unknown())).status, 404)
    const refused = await permit(unknown())
    assert.strictEqual(refused.status, 404)
    assert.isNull(refused.headers.get("webhook-allowed-origin"))
  })

  it("gets 429 when its client or the source is over the rate", async () => {
    for (const over of [{ clientAllowed: false }, { clientAllowed: true, sourceAllowed: false }]) {
      Object.assign(server.state, over)
      for (const response of [await look(), await permit()]) {
        assert.strictEqual(response.status, 429)
        assert.strictEqual(response.headers.get("retry-after"), "42")
        assert.isNull(response.headers.get("webhook-allowed-origin"))
      }
    }
  })

  it("gets permission with the source's rate along with the preflight's headers if it names its origin", async () => {
    for (const [rate, allowed] of [
      [{}, "*"],
      [{ rate: 120 }, "120"],
    ] as const) {
      server.state.source = { ...server.state.source, ...rate }
      const { status, headers } = await permit()
      assert.strictEqual(status, 204)
      assert.strictEqual(headers.get("webhook-allowed-origin"), "events.example")
      assert.strictEqual(headers.get("webhook-allowed-rate"), allowed)
      assert.strictEqual(headers.get("access-control-allow-methods"), "POST")
    }
    assert.deepStrictEqual(server.state.appended, [])
  })

  it("gets a plain preflight if its origin has impossible characters", async () => {
    const { status, headers } = await permit(server.url, { "webhook-request-origin": "a b" })
    assert.strictEqual(status, 204)
    assert.isNull(headers.get("webhook-allowed-origin"))
    assert.deepStrictEqual(server.state.asked, [])
  })
})

describe("other sites' scripts", () => {
  it("may send: the preflight allows any origin, POST and the requested headers", async () => {
    const response = await fetch(server.url, {
      method: "OPTIONS",
      headers: {
        origin: "https://shop.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,x-shop",
      },
    })
    assert.strictEqual(response.status, 204)
    assert.strictEqual(response.headers.get("access-control-allow-origin"), "*")
    assert.strictEqual(response.headers.get("access-control-allow-methods"), "POST")
    assert.strictEqual(response.headers.get("access-control-allow-headers"), "content-type,x-shop")
    assert.isNull(response.headers.get("access-control-allow-credentials"))
    assert.deepStrictEqual(server.state.asked, [])
  })

  it("may read every response", async () => {
    const answers = [
      await server.post("{}", JSON_TYPE),
      await server.post("{", JSON_TYPE),
      await server.post("a=1", { ...FORM, ...BROWSER }),
    ]
    server.state.clientAllowed = false
    answers.push(await server.post("{}", JSON_TYPE))
    server.state.clientAllowed = true
    server.state.instead = Effect.die("broken")
    answers.push(await server.post("{}", JSON_TYPE))
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [200, 400, 200, 429, 500],
    )
    for (const { headers } of answers) assert.strictEqual(headers.get("access-control-allow-origin"), "*")
  })
})

describe("a person with a browser", () => {
  const pageOf = async (response: Response) => {
    assert.strictEqual(response.headers.get("content-type"), "text/html; charset=utf-8")
    assert.include(response.headers.get("content-security-policy")!, "default-src 'none'")
    const text = await response.text()
    assert.notInclude(text, SECRET)
    return text
  }

  it.each(["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"])(
    "gets a thank-you page after a form of type %s",
    async (type) => {
      const body = type.startsWith("multipart")
        ? '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--'
        : "a=1"
      const response = await server.post(body, { ...BROWSER, "content-type": type })
      assert.strictEqual(response.status, 200)
      assert.include(await pageOf(response), "<h1>Спасибо</h1>")
      assert.deepStrictEqual(server.payloads(), ['{"a":"1"}'])
    },
  )

  it("is redirected to the source's own thank-you page if it has one", async () => {
    server.state.source = { ...server.state.source, thanksUrl: "https://shop.example/спасибо?a=1" }
    const response = await server.post("a=1", { ...BROWSER, ...FORM })
    assert.strictEqual(response.status, 303)
    assert.strictEqual(
      response.headers.get("location"),
      "https://shop.example/%D1%81%D0%BF%D0%B0%D1%81%D0%B8%D0%B1%D0%BE?a=1",
    )
    const program = await server.post("a=1", { ...FORM, accept: "*/*" })
    assert.deepInclude(await jsonOf(program), { ok: true })
  })

  it("reads why nothing was saved", async () => {
    const form = { ...BROWSER, ...FORM }
    const missing = await fetch(`${server.base}/webhook/none`, { method: "POST", headers: form, body: "a=1" })
    assert.strictEqual(missing.status, 404)
    assert.include(await pageOf(missing), "данные не принимают")
    const large = await server.post("a=" + "x".repeat(1_048_576), { ...form, "accept-language": "en" })
    assert.strictEqual(large.status, 413)
    assert.include(await pageOf(large), "At most 1 MB")
    server.state.clientAllowed = false
    const often = await server.post("a=1", { ...form, "accept-language": "en" })
    assert.strictEqual(often.status, 429)
    assert.strictEqual(often.headers.get("retry-after"), "42")
    assert.include(await pageOf(often), "wait 42 seconds")
  })

  it("reads an explanation when it opens the address", async () => {
    const response = await fetch(server.url, { headers: { ...BROWSER, "accept-language": "en" } })
    assert.strictEqual(response.status, 405)
    assert.strictEqual(response.headers.get("allow"), "POST")
    assert.include(await pageOf(response), "<h1>This address accepts data</h1>")
  })

  it("gets a link back to the form's page, but never to an intake address", async () => {
    const form = { ...BROWSER, ...FORM }
    assert.include(
      await pageOf(await server.post("a=1", { ...form, referer: "https://shop.example/c" })),
      'href="https://shop.example/c"',
    )
    assert.notInclude(await pageOf(await server.post("a=1", { ...form, referer: server.url })), "href")
    assert.notInclude(await pageOf(await server.post("a=1", { ...form, referer: "javascript:alert(1)" })), "href")
  })

  it("does not get a page for a script's request or for JSON", async () => {
    await jsonOf(await server.post("{}", { ...BROWSER, ...JSON_TYPE }))
    await jsonOf(await server.post("a=1", { ...FORM, accept: "application/json" }))
  })
})
