/** A page that is read while its request's key is checked: it leaves only if that check says yes. */
import type { RateLimiter } from "@data-cabinet/core/limit/RateLimiter"
import type { AbortableCall } from "@data-cabinet/core/runtime/AbortableCall"
import { ReadError } from "@data-cabinet/core/row/ReadError"
import { Result } from "effect"
import { get } from "node:http"
import { afterEach, assert, beforeEach, it } from "vitest"
import { type ApiServer, KEY, serveApi } from "../support/apiServer.ts"

const ROWS = "/api/v1/tables/sources/orders/rows"
const LIMIT = { limit: 120, remaining: 7, retryAfter: 17 }

type Verdict = Awaited<ReturnType<RateLimiter["Service"]["key"]>>
const ADMITTED: Verdict = Result.succeed({ keyId: 1, allowed: true, ...LIMIT })
const OVER: Verdict = Result.succeed({ keyId: 1, allowed: false, ...LIMIT })
const REVOKED: Verdict = Result.succeed(null)

/** What the test lets happen, each when it says so. */
let check: PromiseWithResolvers<Verdict>
let page: PromiseWithResolvers<void>
let reading: PromiseWithResolvers<AbortableCall>
let reads = 0
let server: ApiServer

const next = () => {
  check = Promise.withResolvers()
  page = Promise.withResolvers()
  reading = Promise.withResolvers()
}

beforeEach(async () => {
  next()
  reads = 0
  server = await serveApi({
    admission: { key: () => check.promise },
    rows: {
      page: async (_, call) => {
        reads++
        call.onAbort(() => page.resolve())
        reading.resolve(call)
        await page.promise
        return Result.fail(new ReadError({ code: "query_failed", message: "the secret of the page", retryAfter: 1 }))
      },
    },
  })
})
afterEach(() => server.close())

/** One request from its check to its response. */
const whole = async (verdict: Verdict) => {
  next()
  check.resolve(verdict)
  page.resolve()
  return (await server.ask(ROWS)).status
}

it("reads the first page of a key after its check, and later ones beside it", async () => {
  const first = server.ask(ROWS)
  check.resolve(ADMITTED)
  await reading.promise
  page.resolve()
  assert.equal((await first).status, 409)

  next()
  let isAnswered = false
  const second = server.ask(ROWS).finally(() => (isAnswered = true))
  await reading.promise
  page.resolve()
  await new Promise(setImmediate)
  assert.isFalse(isAnswered)
  check.resolve(ADMITTED)
  const { status, text, headers } = await second
  assert.deepEqual([status, headers.get("x-ratelimit-remaining")], [409, "7"])
  assert.include(text, "the secret of the page")
  assert.equal(reads, 2)
})

for (const [what, verdict, status] of [
  ["was revoked", REVOKED, 401],
  ["is over its limit", OVER, 429],
] as const) {
  it(`throws away the page of a key that ${what}, ends its read, and begins none for the next request`, async () => {
    assert.equal(await whole(ADMITTED), 409)
    next()
    const refused = server.ask(ROWS)
    const call = await reading.promise
    check.resolve(verdict)
    const response = await refused
    assert.equal(response.status, status)
    assert.notInclude(response.text, "secret of the page")
    assert.isTrue(call.isAborted)

    assert.equal(await whole(verdict), status)
    assert.equal(reads, 2)
    assert.equal(await whole(ADMITTED), 409)
    assert.equal(reads, 3)
  })
}

it("throws away a page that was read before the refusal", async () => {
  assert.equal(await whole(ADMITTED), 409)
  next()
  const refused = server.ask(ROWS)
  await reading.promise
  page.resolve()
  await new Promise(setImmediate)
  check.resolve(REVOKED)
  const response = await refused
  assert.equal(response.status, 401)
  assert.notInclude(response.text, "secret of the page")
})

it("ends a read whose client has gone", async () => {
  assert.equal(await whole(ADMITTED), 409)
  next()
  const request = get(server.base + ROWS, { agent: false, headers: { "x-api-key": KEY } }).on("error", () => {})
  const call = await reading.promise
  request.destroy()
  await page.promise
  assert.isTrue(call.isAborted)
  check.resolve(ADMITTED)
})
