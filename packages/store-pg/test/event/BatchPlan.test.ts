import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { planBatch } from "@data-cabinet/store-pg/event/BatchPlan"
import { bodyKeys } from "@data-cabinet/store-pg/event/BodyLocks"
import { assert, it } from "vitest"

const SECRET = "07".repeat(32)

/** The locks of a batch of bodies with these fingerprints. */
const locksOf = (secret: string, sourceId: number, ...prints: ReadonlyArray<string>) => {
  const events = prints.map((print) => ({ ...fingerprintedEvent(new Map()), fingerprint: print.padEnd(64, "0") }))
  const request = { sourceId, sourceVersion: 1, channel: "webhook", history: false, events, original: null } as const
  return planBatch([request], () => ({ table: undefined, waits: false }), bodyKeys(secret)).locks
}

it("planBatch locks each body once and in one order, independent of the order of arrival", () => {
  const prints = ["ffffffffffffffff", "0000000000000010", "8000000000000000", "7fffffffffffffff", "0000000000000010"]
  const locks = locksOf(SECRET, 7, ...prints)
  assert.lengthOf(locks, 4)
  assert.isTrue(locks.every((key, n) => n === 0 || locks[n - 1]! < key))
  assert.deepStrictEqual([...locksOf(SECRET, 7, ...prints.toReversed())], [...locks])
  // Planned one by one, the locks are the same, so that two batches meet at a body that both contain.
  assert.sameMembers(
    [...new Set(prints)].map((print) => locksOf(SECRET, 7, print)[0]!),
    [...locks],
  )
})

it("planBatch uses different lock keys for another source, even with a high id, and for another secret", () => {
  const one = (secret: string, sourceId: number) => locksOf(secret, sourceId, "0000000000000010")[0]!
  const keys = [1, 2, 2 ** 32 + 1, 2 ** 53 - 1].map((sourceId) => one(SECRET, sourceId))
  assert.strictEqual(new Set([...keys, one("08".repeat(32), 1)]).size, 5)
})

/** What the accept writes, and what it leaves, of a request whose events pass so many filters each. */
const writtenAndLeft = (...passed: ReadonlyArray<number>) => {
  const events = passed.map(() => ({ ...fingerprintedEvent(new Map()), fingerprint: null }))
  const filtered = { addresses: [], passed: passed.map((length) => Array.from({ length }, (_, n) => n)) }
  const request = { sourceId: 1, sourceVersion: 1, channel: "webhook", history: false, events, original: null } as const
  const others = { ...request, events: [events[0]!], filtered: { addresses: [], passed: [[7]] } }
  const plan = planBatch(
    [others, { ...request, filtered }],
    () => ({ table: undefined, waits: false }),
    bodyKeys(SECRET),
  )
  return [plan.passed!.length - 1, plan.queued?.map((ids) => ids?.length ?? null) ?? null]
}

it("planBatch leaves the deliveries of a request to a follower if an event passes over 100 filters, or all over 1,000", () => {
  assert.deepStrictEqual(writtenAndLeft(100, 0), [100, null])
  assert.deepStrictEqual(writtenAndLeft(101, 0), [0, [null, 101, 0]])
  assert.deepStrictEqual(writtenAndLeft(...Array.from({ length: 10 }, () => 100)), [1_000, null])
  const eleven = Array.from({ length: 11 }, () => 91)
  assert.deepStrictEqual(writtenAndLeft(...eleven), [0, [null, ...eleven]])
})

it("planBatch leaves no delivery of a notice to the address that it is about", () => {
  const event = { ...fingerprintedEvent(new Map()), fingerprint: null }
  const notice = { kind: "failing", subject: 7, instance: "1", since: null, ends: false, aboutAddress: 7 }
  const filtered = { addresses: [], passed: [Array.from({ length: 101 }, (_, n) => n)] }
  const request = { sourceId: 1, sourceVersion: 1, channel: "webhook", history: false, original: null } as const
  const plan = planBatch(
    [{ ...request, events: [event], notice, filtered }],
    () => ({ table: undefined, waits: false }),
    bodyKeys(SECRET),
  )
  assert.deepStrictEqual(
    plan.queued?.[0],
    filtered.passed[0]!.filter((id) => id !== 7),
  )
})
