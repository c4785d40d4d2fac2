import { Result } from "effect"
import { assert, it } from "vitest"
import { parseJson } from "../../src/json/ParseJson.ts"
import type { JsonObject } from "../../src/json/Json.ts"
import { intervalText, nextSeconds, parseInterval, retryAfterOf } from "../../src/poll/PollSchedule.ts"
import { itemKey } from "../../src/poll/PollItems.ts"

it("nextSeconds doubles while a poll fails, up to six hours or its own interval, and respects Retry-After", () => {
  assert.deepStrictEqual(
    [0, 1, 2, 3, 30, 99].map((failures) => nextSeconds(60, failures, null)),
    [60, 120, 240, 480, 21_600, 21_600],
  )
  assert.strictEqual(nextSeconds(86_400, 5, null), 86_400)
  assert.strictEqual(nextSeconds(60, 1, 600), 600)
  assert.strictEqual(nextSeconds(60, 1, 10_000_000), 21_600)
  assert.strictEqual(nextSeconds(60, 0, 600), 60)
})

it("intervalText writes what parseInterval reads as the same seconds", () => {
  const texts = ["10s", "90s", "15m", "2h", "36h", "1d", "30d"]
  assert.deepStrictEqual(
    texts.map((text) => intervalText(parseInterval(text)!)),
    texts,
  )
})

it("parseInterval accepts only 10s to 30d", () => {
  assert.deepStrictEqual(["10s", "15m", "2h", "30d"].map(parseInterval), [10, 900, 7200, 2_592_000])
  for (const text of ["9s", "31d", "0m", "1.5h", "15", "m", "-1m", "1w", "10sec", "99999999d"])
    assert.isNull(parseInterval(text))
  assert.strictEqual(parseInterval(" 15m "), 900)
})

it("retryAfterOf accepts only seconds", () => {
  for (const header of ["120", " 120 "]) assert.strictEqual(retryAfterOf(header), 120)
  const others = ["Sat, 21 Nov 2026 10:00:00 GMT", "120s", "-120", "1.5", "12345678", "", undefined]
  for (const header of others) assert.isNull(retryAfterOf(header))
})

it("itemKey uses the key field, a pointer, or the content", () => {
  const item = (text: string) => Result.getOrThrow(parseJson(text)) as JsonObject
  const same = (a: string, b: string, key: string | null) =>
    Buffer.from(itemKey(item(a), key)).equals(itemKey(item(b), key))
  assert.isTrue(same('{"id":1,"n":1}', '{"n":2,"id":1}', "id"))
  assert.isFalse(same('{"id":1}', '{"id":"1"}', "id"))
  assert.isFalse(same('{"id":1}', '{"id":1.0}', "id"))
  assert.isTrue(same('{"m":{"id":7},"n":1}', '{"m":{"id":7}}', "/m/id"))
  assert.isTrue(same('{"a":1,"b":2}', '{"b":2,"a":1}', null))
  assert.isFalse(same('{"a":12345678901234567890}', '{"a":12345678901234567891}', null))
  assert.isFalse(same('{"id":null,"a":1}', '{"id":null,"a":2}', "id"))
})
