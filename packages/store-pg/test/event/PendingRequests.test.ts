import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { Pending, PendingRequests } from "@data-cabinet/store-pg/event/PendingRequests"
import { assert, describe, it } from "vitest"

const waiting = (events: number, bytes = 0): Pending => {
  const request = {
    sourceId: 1,
    sourceVersion: 1,
    channel: "webhook",
    history: false,
    events: Array.from({ length: events }, () => fingerprintedEvent(new Map())),
    original: null,
    memory: bytes,
  } as const
  const nothing = () => {}
  return new Pending({ request, deadline: 0, expire: nothing, release: nothing, resolve: nothing, reject: nothing })
}

const queueOf = (...all: ReadonlyArray<Pending>) => {
  const pending = new PendingRequests()
  for (const one of all) pending.add(one)
  return pending
}
const singles = (count: number) => queueOf(...Array.from({ length: count }, () => waiting(1)))

describe("PendingRequests", () => {
  it.each([
    [23, 1, false],
    [24, 1, true],
    [24, 24, true],
    [24, 25, false],
    [100, 100, true],
    [99, 100, false],
  ])("%i single events run alongside a batch of %i: %s", (count, inFlight, goes) => {
    assert.strictEqual(singles(count).mayGoBeside(inFlight), goes)
  })

  it("mayGoBeside is true for a batch that is full in events or in bytes", () => {
    assert.isTrue(queueOf(waiting(100), waiting(100)).mayGoBeside(1_000))
    assert.isTrue(queueOf(waiting(1, 4 * 1024 * 1024)).mayGoBeside(1_000))
    assert.isFalse(queueOf(waiting(100), waiting(99)).mayGoBeside(2))
  })

  it("take returns at most 200 events and 4 MiB, at least one request, and counts the rest", () => {
    const pending = queueOf(waiting(100), waiting(100), waiting(1, 5 * 1024 * 1024), waiting(2))
    assert.deepStrictEqual([pending.take().length, pending.take().length, pending.take().length], [2, 1, 1])
    assert.isTrue(pending.isEmpty)
    for (let n = 0; n < 24; n++) pending.add(waiting(1))
    assert.isTrue(pending.mayGoBeside(24))
  })

  it("remove removes a request once, and stops counting it", () => {
    const [first, second] = [waiting(100), waiting(100)]
    const pending = queueOf(first, second)
    assert.deepStrictEqual([pending.remove(first), pending.remove(first)], [true, false])
    assert.isFalse(pending.mayGoBeside(1))
    assert.deepStrictEqual(pending.takeAll(), [second])
    assert.isTrue(pending.isEmpty)
  })
})
