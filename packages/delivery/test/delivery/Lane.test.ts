import type { Claimed } from "@data-cabinet/core/delivery/DeliveryQueue"
import type { Fate } from "@data-cabinet/delivery/delivery/AdaptiveWindow"
import { Lane, type LaneLimits } from "@data-cabinet/delivery/delivery/Lane"
import { expect, it } from "vitest"
import { seeded } from "../../../../test/support/random.ts"

const LIMITS: LaneLimits = {
  slots: 4,
  slowSlots: 2,
  bytes: 1000,
  slowBytes: 1000,
  window: 2,
  maxWindow: 4,
  wideWindow: 4,
  ahead: 0,
  slowMillis: 1000,
}
const claims = new Map<number, Claimed>()
/** The last claim of a delivery. */
const claim = (id: number): Claimed => claims.get(id) ?? delivery(id)
const delivery = (id: number, addressId = 1, bytes = 0): Claimed => {
  const claimed: Claimed = {
    id,
    type: "event.received",
    recipient: { addressId, url: "https://example.com/", secrets: ["s"] },
    attempt: 1,
    failures: 0,
    createdAt: "",
    event: { json: new Uint8Array(bytes), sourceId: 1, sourceName: "" },
  }
  claims.set(id, claimed)
  return claimed
}
/** Claims one, and sends all that can be sent. */
const begin = (lane: Lane, claimed: Claimed, now = 0) => {
  lane.add(claimed, now)
  return sendAll(lane, now)
}
const sendAll = (lane: Lane, now = 0) => {
  const sent: Array<number> = []
  for (let next = lane.next(now); next !== undefined; next = lane.next(now)) sent.push(next.id)
  return sent
}
const room = (lane: Lane, addressId = 1) => lane.room().get(addressId)

it("an address gains capacity with each quick delivery, up to the maximum; a refusal halves it, no response resets it", () => {
  const lane = new Lane("healthy", LIMITS)
  const deliver = (id: number, fate: Fate) => {
    begin(lane, delivery(id))
    lane.end(claim(id), fate, 10)
    return room(lane)
  }
  const fates: ReadonlyArray<Fate> = [
    "delivered",
    "delivered",
    "delivered",
    "refused",
    "delivered",
    "unanswered",
    "delivered",
  ]
  expect(fates.map((fate, id) => deliver(id, fate))).toEqual([3, 4, 4, 2, 3, 1, 2])
})

it("refusals of attempts that were in flight together halve the capacity once", () => {
  const lane = proven(LIMITS)
  for (const id of [10, 11, 12, 13]) begin(lane, delivery(id))
  for (const id of [10, 11, 12, 13]) lane.end(claim(id), "refused", 1)
  expect(room(lane)).toBe(2)
  begin(lane, delivery(14))
  lane.end(claim(14), "refused", 2)
  expect(room(lane)).toBe(1)
})

it("an address that refuses some deliveries keeps its waiting ones until it refuses all", () => {
  const lane = proven(AHEAD)
  for (let id = 10; id < 18; id++) lane.add(delivery(id), 0)
  expect(sendAll(lane)).toEqual([10, 11, 12, 13])
  lane.end(claim(10), "refused", 1)
  expect([lane.returned(), sendAll(lane)]).toEqual([[], []])
  for (const id of [11, 12, 13]) lane.end(claim(id), "refused", 1)
  expect(sendAll(lane)).toEqual([14, 15])
  lane.end(claim(14), "refused", 2)
  expect([ids(lane.returned()), lane.held]).toEqual([[16, 17], 1])
})

it("capacity grows past the maximum while responses stay as quick as they were and half of the lane is free", () => {
  const wide = { ...LIMITS, slots: 20, wideWindow: 16 }
  const lane = new Lane("healthy", wide)
  let [id, now] = [0, 0]
  const deliver = (count: number, millis: number) => {
    for (let n = 0; n < count; n++) {
      begin(lane, delivery(++id), now)
      now += millis
      lane.end(claim(id), "delivered", now)
    }
    return room(lane)
  }
  expect([deliver(40, 100), deliver(200, 100)]).toEqual([8, 16])
  // Other addresses fill half of the lane, so the usual maximum applies again, but only while they do.
  for (let other = 0; other < 10; other++) begin(lane, delivery(9000 + other, 2 + other), now)
  expect(room(lane)).toBe(4)
  for (let other = 0; other < 10; other++) lane.end(claim(9000 + other), "delivered", now)
  expect(room(lane)).toBe(16)
  expect(deliver(200, 400)).toBe(4)
})

it("capacity past the maximum is what 2,000 deliveries a second need: none where responses take a few milliseconds", () => {
  const wide = { ...LIMITS, slots: 20, wideWindow: 16 }
  const earned = (millis: number) => {
    const lane = new Lane("healthy", wide)
    for (let id = 1; id <= 300; id++) {
      begin(lane, delivery(id), id * millis)
      lane.end(claim(id), "delivered", (id + 1) * millis)
    }
    return room(lane)
  }
  expect([1, 2, 5, 8, 300].map(earned)).toEqual([4, 4, 10, 16, 16])
})

it("an address that fails 15 % of its attempts gets nearly as many as a healthy one, and one that fails all gets one at a time", () => {
  /** The average number in flight over this many responses, in rounds of as many as can be sent. */
  const average = (failing: number, fate: Fate) => {
    const random = seeded(1)
    const lane = new Lane("healthy", { ...LIMITS, slots: 256, bytes: 1e9, maxWindow: 32, wideWindow: 32 })
    let [sent, rounds] = [0, 0]
    for (let id = 0; rounds < 500; rounds++) {
      for (let free = room(lane) ?? 2; free > 0; free--) lane.add(delivery(++id), rounds)
      const together = sendAll(lane, rounds)
      for (const one of together) lane.end(claim(one), random(100) < failing ? fate : "delivered", rounds + 1)
      lane.returned()
      sent += together.length
    }
    return sent / rounds
  }
  expect(average(0, "refused")).toBeGreaterThan(30)
  expect(average(15, "refused")).toBeGreaterThan(20)
  expect(average(15, "unanswered")).toBeLessThan(10)
  expect(average(100, "refused")).toBeLessThan(1.2)
})

it("deliveries in flight use the capacity of their address and of the lane", () => {
  const lane = new Lane("healthy", LIMITS)
  for (const id of [1, 2, 3]) begin(lane, delivery(id, id === 3 ? 2 : 1))
  expect([room(lane, 1), room(lane, 2), lane.free, lane.held]).toEqual([0, 1, 1, 3])
  lane.end(claim(99), "delivered", 0)
  lane.end(claim(1), "delivered", 0)
  expect([room(lane, 1), lane.free, lane.held]).toEqual([2, 2, 2])
})

it("a slow delivery returns its slot, and its address gets no other until it ends", () => {
  const lane = new Lane("healthy", LIMITS)
  for (const id of [1, 2]) {
    begin(lane, delivery(id))
    lane.end(claim(id), "delivered", 0)
  }
  begin(lane, delivery(3))
  expect([lane.check(999), room(lane), lane.free]).toEqual([false, 3, 3])
  expect([lane.check(1000), room(lane), lane.free]).toEqual([true, 0, 4])
  lane.end(claim(3), "delivered", 2000)
  expect([room(lane), lane.free]).toEqual([1, 4])
})

it("slow deliveries past their limit keep their slots", () => {
  const lane = new Lane("healthy", LIMITS)
  for (const id of [1, 2, 3, 4]) begin(lane, delivery(id, id))
  lane.check(1000)
  expect([lane.free, lane.held]).toEqual([2, 4])
})

it("the bytes in flight limit the lane, and slow deliveries have a budget of their own", () => {
  const lane = new Lane("healthy", LIMITS)
  begin(lane, delivery(1, 1, 600))
  expect(lane.free).toBe(3)
  begin(lane, delivery(2, 2, 600))
  expect(lane.free).toBe(0)
  lane.check(1000)
  expect(lane.free).toBe(3)
  lane.end(claim(1), "delivered", 1000)
  lane.end(claim(2), "delivered", 1000)
  expect(lane.free).toBe(4)
})

it("an address without deliveries for a minute is forgotten", () => {
  const lane = new Lane("healthy", LIMITS)
  begin(lane, delivery(1))
  lane.end(claim(1), "unanswered", 0)
  lane.check(60_000)
  expect(room(lane)).toBe(1)
  lane.check(60_001)
  expect(room(lane)).toBeUndefined()
})

const AHEAD: LaneLimits = { ...LIMITS, ahead: 8 }
const ids = (deliveries: ReadonlyArray<Claimed>) => deliveries.map(({ id }) => id)
/** A lane whose address 1 has earned its maximum. */
const proven = (limits = AHEAD) => {
  const lane = new Lane("healthy", limits)
  for (const id of [1, 2, 3]) {
    begin(lane, delivery(id))
    lane.end(claim(id), "delivered", 0)
  }
  return lane
}

it("deliveries are claimed ahead for an address at full capacity, but no more are sent at once", () => {
  const lane = proven()
  expect([room(lane), lane.free]).toEqual([12, 12])
  for (let id = 10; id < 20; id++) lane.add(delivery(id), 0)
  expect([sendAll(lane), room(lane), lane.held]).toEqual([[10, 11, 12, 13], 2, 10])
  expect([
    lane.end(claim(10), "delivered", 1),
    sendAll(lane),
    lane.end(claim(11), "delivered", 1),
    lane.end(claim(12), "delivered", 1),
  ]).toEqual([false, [14], false, false])
  expect(sendAll(lane)).toEqual([15, 16])
  expect([lane.end(claim(13), "delivered", 1), lane.hasRoom(1)]).toEqual([true, true])
})

it("a thousand quick addresses together have no more claimed ahead than one of them", () => {
  const lane = new Lane("healthy", AHEAD)
  for (let address = 1; address <= 1000; address++) {
    for (const id of [1, 2, 3]) {
      begin(lane, delivery(address * 10 + id, address))
      lane.end(claim(address * 10 + id), "delivered", 0)
    }
  }
  expect([room(lane, 1000), lane.free]).toEqual([12, 12])
  for (let id = 1; id <= 10; id++) lane.add(delivery(id, id), 0)
  expect([sendAll(lane).length, lane.held, lane.free]).toEqual([4, 10, 2])
})

it("of more than 4,096 addresses, those claimed for longest ago start over, unless they hold deliveries", () => {
  const lane = new Lane("healthy", { ...LIMITS, slots: 5000 })
  for (let id = 1; id <= 4098; id++) {
    begin(lane, delivery(id, id))
    if (id > 1) lane.end(claim(id), "unanswered", 0)
  }
  lane.add(delivery(5000, 2), 0)
  lane.end(claim(5000), "unanswered", 0)
  lane.check(1)
  expect([lane.room().size, room(lane, 1), room(lane, 2), room(lane, 3), room(lane, 4), room(lane, 5)]).toEqual([
    4096,
    1,
    0,
    undefined,
    undefined,
    1,
  ])
})

it("nothing is claimed ahead for an address that is slow to respond, or whose deliveries are large", () => {
  const slow = proven()
  const large = proven({ ...AHEAD, bytes: 1e12 })
  for (let id = 10; id < 60; id++) {
    begin(slow, delivery(id))
    slow.end(claim(id), "delivered", 900)
    const long = { ...delivery(id), event: { json: new Uint8Array(5e6), sourceId: 1, sourceName: "" } }
    begin(large, long)
    large.end(long, "delivered", 1)
  }
  expect([room(slow), room(large)]).toEqual([4, 4])
})

it("deliveries that wait for an address are released when it fails, slows down or hangs, and when the lane is emptied", () => {
  const waiting = () => {
    const lane = proven()
    for (let id = 10; id < 16; id++) lane.add(delivery(id), 0)
    expect(sendAll(lane)).toEqual([10, 11, 12, 13])
    return lane
  }
  const failed = waiting()
  failed.end(claim(10), "unanswered", 1)
  expect([ids(failed.returned()), failed.returned(), sendAll(failed), failed.held]).toEqual([[14, 15], [], [], 3])
  const slow = waiting()
  slow.check(1000)
  expect(ids(slow.returned())).toEqual([14, 15])
  const full = new Lane("healthy", { ...AHEAD, slots: 0 })
  full.add(delivery(20), 0)
  expect([sendAll(full), full.check(5000), full.returned()]).toEqual([[], false, []])
  full.check(5001)
  expect([ids(full.returned()), full.held]).toEqual([[20], 0])
  const closed = waiting()
  closed.empty()
  expect([ids(closed.returned()), closed.held]).toEqual([[14, 15], 4])
})

it("addresses take turns", () => {
  const lane = new Lane("healthy", LIMITS)
  for (const [id, address] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 2],
  ] as const)
    lane.add(delivery(id, address), 0)
  expect(sendAll(lane)).toEqual([1, 3, 2, 4])
})

it("a delivery that is claimed again while it is still in flight returns all its slots", () => {
  const lane = new Lane("healthy", LIMITS)
  // After the machine slept or its clock was changed: the leases expired, but the attempts did not end.
  for (let id = 1; id <= 3; id++) {
    const first = delivery(id, id)
    const second = delivery(id, id)
    expect([begin(lane, first), begin(lane, second)]).toEqual([[id], [id]])
    expect([lane.held, lane.free]).toEqual([2, 2])
    lane.end(second, "delivered", 1)
    lane.end(first, "delivered", 1)
    expect([lane.held, lane.free, room(lane, id)]).toEqual([0, 4, 4])
  }
})

it("a delivery with a time is sent at that time, and takes neither a slot nor another's turn before", () => {
  const lane = new Lane("healthy", LIMITS)
  const at = (id: number, notBeforeMillis: number) => ({ ...delivery(id), notBeforeMillis })
  const [first, second] = [at(1, 100), at(2, 200)]
  expect([...begin(lane, first), ...begin(lane, second), ...begin(lane, delivery(3, 2))]).toEqual([3])
  expect([lane.held, room(lane, 1), lane.free]).toEqual([3, 0, 3])
  lane.due(first, 99)
  expect(sendAll(lane, 99)).toEqual([])
  lane.due(first, 100)
  expect(sendAll(lane, 100)).toEqual([1])
  lane.due(second, 200)
  expect(sendAll(lane, 200)).toEqual([2])
  // The next check makes up for a timer that fired early.
  const late = at(4, 400)
  lane.end(first, "delivered", 210)
  lane.end(second, "delivered", 210)
  begin(lane, late, 210)
  lane.check(460)
  expect(sendAll(lane, 460)).toEqual([4])
})
