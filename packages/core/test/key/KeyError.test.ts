import { checkHolderName, checkLifetime, checkList, type KeyError, MAX_LISTED } from "@data-cabinet/core/key/KeyError"
import { assert, it } from "@effect/vitest"
import { Effect, Result } from "effect"

/** The code that a check refuses with; null if it accepts. */
const refusal = (check: Effect.Effect<void, KeyError>): string | null =>
  Result.match(Effect.runSync(Effect.result(check)), { onSuccess: () => null, onFailure: ({ code }) => code })

const listed = (count: number): ReadonlyArray<string> => Array.from({ length: count }, () => "a.b")

it("checkHolderName accepts 1 to 200 characters, not only spaces", () => {
  const names = ["a", "x".repeat(200), "", " \t", "x".repeat(201)]
  assert.deepStrictEqual(
    names.map((name) => refusal(checkHolderName(name, "A key"))),
    [null, null, "bad_name", "bad_name", "bad_name"],
  )
})

it("checkList accepts 1 to 100 objects for a reader, and none for any other role", () => {
  assert.isNull(refusal(checkList("viewer", null)))
  assert.isNull(refusal(checkList("reader", null)))
  assert.strictEqual(refusal(checkList("viewer", listed(1))), "bad_only")
  assert.deepStrictEqual(
    [0, 1, MAX_LISTED, MAX_LISTED + 1].map((count) => refusal(checkList("reader", listed(count)))),
    ["bad_only", null, null, "bad_only"],
  )
})

it("checkLifetime accepts a minute to ten years, or no expiry", () => {
  assert.deepStrictEqual(
    [null, 60, 315_360_000, 59, 315_360_001].map((seconds) => refusal(checkLifetime(seconds))),
    [null, null, null, "bad_expiry", "bad_expiry"],
  )
})
