import { faultInWords, faultName } from "@data-cabinet/core/error/Fault"
import { assert, it } from "vitest"

it("faultName reveals nothing of a fault's message", () => {
  assert.strictEqual(faultName(new RangeError("of hush")), "RangeError")
  assert.notInclude(faultName("hush"), "hush")
})

it("faultInWords returns kind and message of a fault, and any other thrown value as text", () => {
  assert.strictEqual(faultInWords(new RangeError("too far")), "RangeError: too far")
  assert.strictEqual(faultInWords("text"), "text")
  assert.strictEqual(faultInWords(undefined), "undefined")
})

it("faultInWords returns at most 300 characters, all of which PostgreSQL can hold", () => {
  assert.strictEqual(faultInWords("x".repeat(300)), "x".repeat(300))
  assert.strictEqual(faultInWords("x".repeat(301)), "x".repeat(300))
  assert.strictEqual(faultInWords("a\0b\0\ud800"), "a\uFFFDb\uFFFD\uFFFD")
  // A character cut in half.
  assert.strictEqual(faultInWords(`${"x".repeat(299)}😀`), `${"x".repeat(299)}\uFFFD`)
})
