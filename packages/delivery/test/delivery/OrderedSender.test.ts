/** How many events an address in order gets at once: in a request, and from a page. */
import type { OrderedItem } from "@data-cabinet/core/delivery/OrderedQueue"
import { assert, it } from "vitest"
import { isQuickPage } from "../../src/delivery/OrderedSender.ts"
import { nextBatch, TURN_MILLIS } from "../../src/delivery/OrderedTurn.ts"

const itemOf = (eventId: number, bytes: number): OrderedItem => ({
  deliveryId: eventId,
  eventId,
  place: { epoch: 1, xid: 1n, id: eventId },
  createdAt: "2026-11-29T12:00:00Z",
  event: { json: new Uint8Array(bytes), sourceId: 1, sourceName: "Orders" },
})

const eventsOf = (items: ReadonlyArray<OrderedItem>, from: number, max: number): ReadonlyArray<number> =>
  nextBatch(items, from, max).map(({ eventId }) => eventId)

it("nextBatch takes as many events as a batch may have, or what is left", () => {
  const items = [1, 2, 3, 4, 5].map((id) => itemOf(id, 10))
  assert.deepEqual(eventsOf(items, 0, 1), [1])
  assert.deepEqual(eventsOf(items, 1, 3), [2, 3, 4])
  assert.deepEqual(eventsOf(items, 3, 100), [4, 5])
})

it("nextBatch takes a megabyte of events at most, or its first event alone", () => {
  const items = [600_000, 400_000, 100_000, 2_000_000, 10].map((bytes, index) => itemOf(index + 1, bytes))
  assert.deepEqual(eventsOf(items, 0, 100), [1, 2])
  assert.deepEqual(eventsOf(items, 2, 100), [3])
  assert.deepEqual(eventsOf(items, 3, 100), [4])
})

it("isQuickPage is true after a full page whose events came so fast that 1,000 fit into a turn", () => {
  assert.equal(isQuickPage(200, TURN_MILLIS / 5), true)
  assert.equal(isQuickPage(200, TURN_MILLIS / 5 + 1), false)
  assert.equal(isQuickPage(199, 0), false)
  assert.equal(isQuickPage(1_000, TURN_MILLIS), true)
  assert.equal(isQuickPage(1_000, TURN_MILLIS + 1), false)
})
