import { printedEvent } from "@data-cabinet/core/event/Fingerprint"
import { planBatch } from "@data-cabinet/store-pg/event/BatchPlan"
import { assert, it } from "vitest"

/** What a batch of such bodies locks; a lock is made of the first 16 digits of a fingerprint. */
const locksOf = (sourceId: number, ...prints: ReadonlyArray<string>) => {
  const events = prints.map((print) => ({ ...printedEvent(new Map()), fingerprint: print.padEnd(64, "0") }))
  const request = { sourceId, sourceVersion: 1, channel: "webhook", history: false, events, original: null } as const
  return planBatch([request], () => ({ table: undefined, waits: false })).locks
}

it("planBatch locks each body once and in one order, whatever order they came in", () => {
  const prints = ["ffffffffffffffff", "0000000000000010", "8000000000000000", "7fffffffffffffff", "0000000000000010"]
  const locks = locksOf(0, ...prints)
  assert.deepStrictEqual(locks, [-(2n ** 63n), -1n, 16n, 2n ** 63n - 1n])
  assert.deepStrictEqual(locksOf(0, ...prints.toReversed()), locks)
  assert.deepStrictEqual(locksOf(1, "0000000000000010"), [17n])
})
