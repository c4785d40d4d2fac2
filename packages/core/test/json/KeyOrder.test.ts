/** Many keys are sorted in pieces, into the same order as at once. */
import { KeySort } from "@data-cabinet/core/json/KeyOrder"
import { assert, it } from "vitest"

const sorted = (keys: ReadonlyArray<string>, compares: number) => {
  const sort = new KeySort(keys)
  for (let pieces = 1; ; pieces++) {
    const order = sort.advance(compares)
    if (order !== undefined) return { keys: [...order], pieces }
  }
}

it.each([0, 1, 2, 1_023, 1_024, 1_025, 2_048, 2_049, 5_000, 10_240, 33_333])("KeySort sorts %i keys", (count) => {
  const keys = Array.from({ length: count }, (_, n) => `${(n * 7919) % 104_729}${n % 3 === 0 ? "é" : "Z"}`)
  const whole = keys.toSorted((a, b) => (a < b ? -1 : 1))
  for (const compares of [1, 100, 16_384, Number.POSITIVE_INFINITY]) {
    assert.deepStrictEqual(sorted(keys, compares).keys, whole)
  }
  assert.deepStrictEqual(sorted(keys.toReversed(), 1_000).keys, whole)
})

it("KeySort compares no more in one piece than its limit, except for a first run", () => {
  const keys = Array.from({ length: 65_536 }, (_, n) => `${(n * 7919) % 65_537}`)
  // Runs of 1,024 keys, then six passes over all of them.
  assert.isAtLeast(sorted(keys, 16_384).pieces, (65_536 * 6) / 16_384)
})
