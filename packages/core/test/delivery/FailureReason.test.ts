/** The sentences that explain failures. */
import { reasonOf, saidIn } from "@data-cabinet/core/delivery/FailureReason"
import { assert, it } from "@effect/vitest"
import { randomOf, seeded } from "../../../../test/support/random.ts"

const failed = (status: number | null, failure: string | null, responseBody: string | null = null) =>
  reasonOf({ status, failure, responseBody })

it("reasonOf explains a failure in a sentence", () => {
  const json = '{"error":{"code":"missing_field","message":"Field \\"order_no\\" is required","path":["data"]}}'
  const cases: ReadonlyArray<readonly [string | null, string | null]> = [
    [failed(400, "responded with 400", json), 'The receiver refused it with 400: “Field "order_no" is required”'],
    [failed(404, "responded with 404", "<html>no</html>"), "The receiver refused it with 404."],
    [failed(503, "responded with 503", " try\n later "), "The receiver failed with 503: “try later”"],
    [failed(422, null, '{"errors":[{"detail":"too long"}]}'), "The receiver refused it with 422: “too long”"],
    [
      failed(302, "responded with 302, a redirect to https://example.com/new; redirects are not followed"),
      "The receiver redirected it (302) to https://example.com/new. Redirects are not followed.",
    ],
    [failed(304, "responded with 304"), "The receiver responded with 304, which is not a success."],
    [failed(null, "no response within 15 s"), "No answer within 15 s."],
    [failed(null, "no connection within 2.5 s"), "No connection within 2.5 s."],
    [failed(null, "the name shop.invalid has no address (ENOTFOUND)"), "The name shop.invalid did not resolve."],
    [failed(null, "the name servers did not respond for shop.invalid within 5 s"), "The name servers did not respond."],
    [failed(null, "the connection was refused"), "The receiver refused the connection."],
    [failed(null, "cannot connect (EHOSTUNREACH)"), "It was not delivered: cannot connect (EHOSTUNREACH)."],
    [failed(204, null), null],
  ]
  for (const [actual, expected] of cases) assert.strictEqual(actual, expected)
})

it("saidIn quotes one line of at most 160 characters from any response", () => {
  const random = seeded(49)
  const signs = [
    "{",
    "}",
    '"',
    "[",
    "]",
    ":",
    ",",
    "message",
    "error",
    " ",
    "\n",
    "\0",
    "<",
    "ж",
    "😀",
    "\ud800",
    "x".repeat(90),
  ]
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: random(12) }, () => randomOf(random, signs)).join("")
    for (const body of [text, JSON.stringify({ error: [{ message: text }] }), JSON.stringify(text)]) {
      const said = saidIn(body)
      assert.isAtMost([...said].length, 161)
      assert.notMatch(said, /[\n\0]/)
    }
  }
})
