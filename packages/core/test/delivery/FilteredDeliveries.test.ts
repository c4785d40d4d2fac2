/** Filters are compared in pieces of time, however many there are and however long they were allowed to be. */
import type { FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import { filteredAddress, filteredDeliveries, filterPieces } from "@data-cabinet/core/delivery/FilteredDeliveries"
import { laterPieces } from "@data-cabinet/core/runtime/WorkInTurns"
import { assert, it, vi } from "vitest"

/** Each look at the clock finds it so much later. */
const withSlowClock = <A>(millis: number, work: () => A): A => {
  let now = 0
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += millis))
  try {
    return work()
  } finally {
    clock.mockRestore()
  }
}

const filter = (fv: string, fo: "eq" | "ne" | "contains" = "ne"): FieldFilters => [{ fc: "kind", fo, fv }]
const eventOf = (kind: string) => ({ payload: new Map([["kind", kind]]) })

const ADDRESSES = [
  filteredAddress(1, [...filter("a"), ...filter("b"), ...filter("c")]),
  filteredAddress(2, filter("x", "eq")),
  filteredAddress(3, [...filter("x", "contains"), ...filter("b")]),
]
const EVENTS = [eventOf("x"), eventOf("b"), { ...eventOf("x"), spam: "honeypot" }]
const EXPECTED = { addresses: [1, 2, 3], passed: [[1, 2, 3], [], []] }

it("filteredDeliveries finds the addresses whose conditions all hold, and none for spam", async () => {
  assert.deepEqual(await filteredDeliveries(ADDRESSES, EVENTS), { filtered: EXPECTED })
  assert.deepEqual(await filteredDeliveries(undefined, EVENTS), {})
})

it("filterPieces ends a piece after 5 ms, between any two conditions", () => {
  // Seven comparisons, of which two fit into a piece.
  const piece = filterPieces(ADDRESSES.slice(0, 2), EVENTS)
  const pieces = withSlowClock(3, () => [piece(), piece(), piece(), piece()])
  const passed = [[1, 2], [], []]
  assert.deepEqual(pieces, [undefined, undefined, undefined, { addresses: [1, 2], passed }])
})

it("filterPieces makes the index of a text that is searched slowly in pieces, and finds the same with it", () => {
  const text = "ab".repeat(50_000)
  const conditions = [...filter("BA", "contains"), ...filter("bab", "contains"), ...filter("b", "contains")]
  const piece = filterPieces(
    [filteredAddress(1, conditions), filteredAddress(2, filter("bb", "contains"))],
    [eventOf(text)],
  )
  let pieces = 0
  const filtered = withSlowClock(150, () => {
    for (;;) {
      pieces++
      const decided = piece()
      if (decided !== undefined) return decided
    }
  })
  assert.deepEqual(filtered, { addresses: [1, 2], passed: [[1]] })
  // Without the index, one for each condition and the end.
  assert.isAbove(pieces, 5)
})

it("laterPieces goes on until it is decided, and ends early with nothing if it is over", async () => {
  const endless = () => undefined
  let left = 3
  assert.deepEqual(await laterPieces(() => (--left === 0 ? EXPECTED : undefined)), EXPECTED)
  let looks = 0
  assert.isUndefined(await laterPieces(endless, () => ++looks > 4))
  const fault = new Error("a fault of ours")
  const failed = await laterPieces(() => {
    throw fault
  }).catch((error: unknown) => error)
  assert.strictEqual(failed, fault)
})

it("a stored filter that is longer than the limit of today decides as before", async () => {
  const long = Array.from({ length: 50 }, (_, n) => filter(`${"x".repeat(199)}${n}`)).flat()
  const { filtered } = await filteredDeliveries(
    [filteredAddress(1, long)],
    [eventOf("x".repeat(200)), eventOf(`${"x".repeat(199)}7`)],
  )
  assert.deepEqual(filtered!.passed, [[1], []])
})
