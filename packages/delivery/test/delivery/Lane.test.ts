import type { Claimed } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Lane, type LaneLimits } from "@data-cabinet/delivery/delivery/Lane"
import { expect, it } from "vitest"

const LIMITS: LaneLimits = {
  slots: 4,
  slowSlots: 2,
  bytes: 1000,
  slowBytes: 1000,
  window: 2,
  maxWindow: 4,
  slowMillis: 1000,
}
const delivery = (id: number, addressId = 1, bytes = 0): Claimed => ({
  id,
  type: "event.received",
  addressId,
  url: "https://example.com/",
  secrets: ["s"],
  attempt: 1,
  failures: 0,
  createdAt: "",
  event: { text: "x".repeat(bytes), sourceId: 1, sourceName: "" },
})
const room = (lane: Lane, addressId = 1) => lane.room().get(addressId)

it("an address earns room with each quick delivery, up to the most, and a failure takes it back", () => {
  const lane = new Lane("healthy", LIMITS)
  const deliver = (id: number, delivered: boolean) => {
    lane.begin(delivery(id), 0)
    lane.end(id, delivered, 10)
    return room(lane)
  }
  expect([deliver(1, true), deliver(2, true), deliver(3, true), deliver(4, false), deliver(5, true)]).toEqual([
    3, 4, 4, 1, 2,
  ])
})

it("what is under way takes room, of its address and of the lane", () => {
  const lane = new Lane("healthy", LIMITS)
  for (const id of [1, 2, 3]) lane.begin(delivery(id, id === 3 ? 2 : 1), 0)
  expect([room(lane, 1), room(lane, 2), lane.free, lane.running]).toEqual([0, 1, 1, 3])
  lane.end(99, true, 0)
  lane.end(1, true, 0)
  expect([room(lane, 1), lane.free, lane.running]).toEqual([2, 2, 2])
})

it("a slow one gives its place back, and its address gets no other until it ends", () => {
  const lane = new Lane("healthy", LIMITS)
  for (const id of [1, 2]) {
    lane.begin(delivery(id), 0)
    lane.end(id, true, 0)
  }
  lane.begin(delivery(3), 0)
  expect([lane.look(999), room(lane), lane.free]).toEqual([false, 3, 3])
  expect([lane.look(1000), room(lane), lane.free]).toEqual([true, 0, 4])
  lane.end(3, true, 2000)
  expect([room(lane), lane.free]).toEqual([1, 4])
})

it("slow ones past their bound keep their places", () => {
  const lane = new Lane("healthy", LIMITS)
  for (const id of [1, 2, 3, 4]) lane.begin(delivery(id, id), 0)
  lane.look(1000)
  expect([lane.free, lane.running]).toEqual([2, 4])
})

it("bytes under way close the lane, and slow ones have a budget of their own", () => {
  const lane = new Lane("healthy", LIMITS)
  lane.begin(delivery(1, 1, 600), 0)
  expect(lane.free).toBe(3)
  lane.begin(delivery(2, 2, 600), 0)
  expect(lane.free).toBe(0)
  lane.look(1000)
  expect(lane.free).toBe(3)
  lane.end(1, true, 1000)
  lane.end(2, true, 1000)
  expect(lane.free).toBe(4)
})

it("an address that had nothing for a minute is forgotten", () => {
  const lane = new Lane("healthy", LIMITS)
  lane.begin(delivery(1), 0)
  lane.end(1, false, 0)
  lane.look(60_000)
  expect(room(lane)).toBe(1)
  lane.look(60_001)
  expect(room(lane)).toBeUndefined()
})
