import { deliveryFigures } from "@data-cabinet/core/activity/DeliveryFigures"
import { assert, it } from "vitest"

const counts = (of: ReadonlyArray<readonly [number | null, number]>) =>
  of.map(([withinMillis, attempts]) => ({
    at: "2026-11-25T09:00:00Z",
    addressId: 1,
    withinMillis,
    outcome: withinMillis === null ? ("error" as const) : ("delivered" as const),
    attempts,
  }))

it("deliveryFigures adds up hours and addresses, and never understates a duration", () => {
  assert.deepStrictEqual(deliveryFigures([]), { delivered: 0, failed: 0, p50Millis: null, p95Millis: null })
  const of = counts([
    [100, 40],
    [null, 5],
    [20, 50],
    [1000, 5],
    [100, 5],
  ])
  assert.deepStrictEqual(deliveryFigures(of), { delivered: 100, failed: 5, p50Millis: 20, p95Millis: 100 })
  assert.strictEqual(deliveryFigures([...of, ...counts([[1000, 1]])]).p95Millis, 1000)
})
