/** The memory of waiting requests is limited in total, and no client can use all of it. */
import { MemoryBudget, MemoryShares, type Release } from "@data-cabinet/core/limit/MemoryBudget"
import { assert, it } from "vitest"

/** Takes as much as it can get, in parts of this many bytes. */
const fill = (shares: MemoryShares, source: () => number, ip: () => string | null, bytes: number): Array<Release> => {
  const held: Array<Release> = []
  for (;;) {
    const release = shares.hold(source(), ip(), bytes)
    if (release === undefined) return held
    held.push(release)
  }
}

it("one client gets at most a third and one source half, so that other senders have room", () => {
  const budget = new MemoryBudget(1_200)
  const shares = new MemoryShares(budget)
  const ofClient = fill(
    shares,
    () => 1,
    () => "203.0.113.9",
    10,
  )
  assert.isAtMost(ofClient.length, 40)
  let n = 0
  const ofSource = fill(
    shares,
    () => 1,
    () => `198.51.100.${n++}`,
    10,
  )
  assert.isAtMost(ofClient.length + ofSource.length, 61)
  for (let sent = 0; sent < 20; sent++) assert.isDefined(shares.hold(2, "192.0.2.1", 10))
  for (const release of [...ofClient, ...ofSource]) release()
  assert.strictEqual(budget.free, 1_000)
})

it("IPv6 clients are identified by their /64", () => {
  const shares = new MemoryShares(new MemoryBudget(1_200))
  let n = 0
  const held = fill(
    shares,
    () => n,
    () => `2001:db8:0:1::${(n++).toString(16)}`,
    10,
  )
  assert.isAtMost(held.length, 40)
})

it("senders without a share get only free memory", () => {
  const budget = new MemoryBudget(1_000)
  const shares = new MemoryShares(budget)
  let n = 0
  const held = fill(
    shares,
    () => n++,
    () => null,
    100,
  )
  assert.strictEqual(held.length, 10)
  assert.strictEqual(budget.free, 0)
  held[0]!()
  held[0]!()
  assert.strictEqual(budget.free, 100)
})

it("a single waiting request always has room", () => {
  const budget = new MemoryBudget(10)
  const release = new MemoryShares(budget).hold(1, null, 100)!
  assert.isUndefined(new MemoryShares(budget).hold(2, null, 1))
  release()
  assert.isTrue(budget.isUnused)
})

it("two cabinets of a process share one budget", () => {
  const budget = new MemoryBudget(1_000)
  const [one, other] = [new MemoryShares(budget), new MemoryShares(budget)]
  fill(
    one,
    () => 1,
    () => null,
    10,
  )
  const left = budget.free
  fill(
    other,
    () => 1,
    () => null,
    10,
  )
  assert.isBelow(budget.free, left)
  assert.isAbove(budget.free, 0)
})

it("a source may hold as much as it leaves free, and a client half of that, to the byte", () => {
  const source = (bytes: number) => {
    const shares = new MemoryShares(new MemoryBudget(100))
    shares.hold(1, null, 30)
    return shares.hold(1, null, bytes) !== undefined
  }
  assert.deepStrictEqual([source(40), source(41)], [true, false])
  const client = (bytes: number) => {
    const shares = new MemoryShares(new MemoryBudget(120))
    shares.hold(1, "203.0.113.9", 30)
    return shares.hold(2, "203.0.113.9", bytes) !== undefined
  }
  assert.deepStrictEqual([client(15), client(16)], [true, false])
})

it("a sender that holds nothing may take all free memory", () => {
  const shares = new MemoryShares(new MemoryBudget(100))
  shares.hold(9, null, 10)
  const release = shares.hold(1, "203.0.113.9", 80)!
  assert.isUndefined(shares.hold(2, "203.0.113.9", 6))
  release()
  assert.isDefined(shares.hold(1, "203.0.113.9", 90))
})
