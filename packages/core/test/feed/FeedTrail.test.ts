import type { FeedPlace, FeedPosition, FeedTrail } from "@data-cabinet/core/feed/FeedStore"
import { FEED_START, KEPT_EPOCHS } from "@data-cabinet/core/feed/FeedStore"
import { writeCursor } from "@data-cabinet/core/feed/FeedParams"
import { laterPlaces, placesOf, resumeAt } from "@data-cabinet/core/feed/FeedPosition"
import { comparePlaces, extendTrail, isTrail, trailBefore, trailPlaces } from "@data-cabinet/core/feed/FeedTrail"
import { CursorKey } from "@data-cabinet/core/pagination/CursorKey"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

/** The n-th event of a feed whose clock jumps back and forth, with gaps between ids and an occasional new epoch. */
const eventAt = (n: number): FeedPlace => ({
  epoch: 1 + Math.floor(n / 100_000) * 1_000_000_000_000,
  xid: 700n + BigInt(n % 100_000) * 3n,
  id: n * 2,
  receivedAt: 800_000_000_000_000n + BigInt(n) * 1_000n - BigInt(n % 7) * 40_000n,
})

/** A client's position after each of these pages. */
const walk = (pages: ReadonlyArray<number>) => {
  let at = 0
  let from: FeedPlace = FEED_START
  let trail: FeedTrail | undefined
  return pages.map((count) => {
    const before = at
    trail = extendTrail(trail, from, count, (index) => eventAt(before + 1 + index))
    at += count
    from = eventAt(at)
    return { at, trail, from }
  })
}

const Pages = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(400),
)

/** How much further back than the loss a place may be: one page of the walk, or this many times the loss. */
const FACTOR = 16
const NEAR = 64

describe("a trail", () => {
  it.prop(
    "has a position before any loss, not much further back than the loss itself, for any page size",
    [Pages],
    ([pages]) => {
      for (const { at, trail } of walk(pages).slice(-3)) {
        const places = trailPlaces(trail).map(({ id }) => id / 2)
        for (let loss = 1; loss < at; loss = Math.ceil(loss * 1.7)) {
          const place = places.find((one) => one <= at - loss) ?? 0
          assert.isAtMost(at - place, Math.max(NEAR, FACTOR * loss), `${at} ${loss}: ${places.join(" ")}`)
        }
      }
    },
    { arbitrary: { runs: 100 } },
  )

  it.each([1, 7, 31, 100, 1000])("stays short over a long walk of pages of %s", (size) => {
    const positions = walk(Array.from({ length: 20_000 }, () => size))
    const { trail, from, at } = positions.at(-1)!
    const places = trailPlaces(trail)
    assert.isAtMost(places.length, 4 + (2 * Math.log(at)) / Math.log(FACTOR))
    for (const place of places) assert.deepStrictEqual(place, eventAt(place.id / 2))
    const left = Array.from({ length: KEPT_EPOCHS }, (_, n) => ({ ...from, epoch: from.epoch + n }))
    const key = new CursorKey(Buffer.alloc(32, 7))
    assert.isBelow(
      writeCursor(key, { sourceId: 9_000_000, channel: "webhook" }, { ...from, left, trail }).length,
      2_000,
    )
  })

  it("only increments its count while a client reads one event at a time", () => {
    const positions = walk(Array.from({ length: 3_200 }, () => 1))
    const changes = positions.filter(({ trail }, n) => n > 0 && trail.places !== positions[n - 1]!.trail.places)
    assert.isAtMost(changes.length, 3_200 / 30)
  })

  it("continues from the part before the position that a client was sent back to", () => {
    const { trail, from } = walk(Array.from({ length: 300 }, () => 40)).at(-1)!
    const places = trailPlaces(trail)
    const place = places[2]!
    const before = trailBefore(trail, place)
    assert.deepStrictEqual(trailPlaces(before), places.slice(3))
    // As many events as there are between the two.
    assert.strictEqual(before.since, (place.id - places[3]!.id) / 2)
    const on = extendTrail(before, place, 40, (index) => ({ ...from, id: from.id + index }))
    assert.includeDeepMembers([...trailPlaces(on)], [place])
  })

  it("is empty when malformed, and never yields a number that the database does not accept", () => {
    const broken = ["0.1.x.3.4", "x0.1.2.3.4", "0.1.2.3.4x", "0.1.2.3. 4", "0.1.2.3.", "0.1.2.3.4,0.1.2.3"]
    for (const places of broken) assert.deepStrictEqual(trailPlaces({ since: 3, places }), [], places)
    for (const places of ["x", "1", "0.1.2.3", "0.1.2.3.4.5", "0.1.2.3.4,", "0.-1.2.3.4", "0.1.-2.3.4", "0.1.2.-3.4"]) {
      assert.deepStrictEqual(trailPlaces({ since: 3, places }), [], places)
    }
    assert.deepStrictEqual(trailPlaces({ since: 3, places: "0.1.9223372036854775808.3.4" }), [])
    assert.deepStrictEqual(trailPlaces({ since: 3, places: "0.9007199254740992.2.3.4" }), [])
    assert.deepStrictEqual(trailPlaces({ since: 3, places: "0.1.2.3.9223372036854775808" }), [])
    assert.deepStrictEqual(trailPlaces({ since: 3, places: "0.1.2.3.-9223372036854775809" }), [])
    const least = { epoch: 0, xid: 0n, id: 0, receivedAt: -(2n ** 63n) }
    assert.deepStrictEqual(trailPlaces({ since: 3, places: "0.0.0.0.-9223372036854775808" }), [least])
    for (const [since, places] of [
      ["1x", ""],
      ["1".repeat(16), ""],
      ["-1", ""],
      ["", ""],
      ["1", "a"],
      ["1", "1".repeat(4_001)],
    ] as const) {
      assert.isFalse(isTrail(since, places))
    }
    assert.isTrue(isTrail("0", "0.1.2.3.-4"))
    assert.isTrue(isTrail("1".repeat(15), "1".repeat(4_000)))
  })
})

it("are ordered by epoch, then by transaction, then by number", () => {
  const places: ReadonlyArray<FeedPlace> = [
    { epoch: 1, xid: 5n, id: 8 },
    { epoch: 1, xid: 5n, id: 9 },
    { epoch: 1, xid: 6n, id: 2 },
    { epoch: 2, xid: 1n, id: 1 },
  ]
  for (const [n, one] of places.entries())
    for (const [m, other] of places.entries())
      assert.strictEqual(Math.sign(comparePlaces(one, other)), Math.sign(n - m), `${n} ${m}`)
})

describe("a position", () => {
  const place = (epoch: number, id: number): FeedPlace => ({ epoch, xid: BigInt(id), id, receivedAt: 1n })
  const { trail } = walk(Array.from({ length: 50 }, () => 20)).at(-1)!
  const position: FeedPosition = { ...place(5e12, 9), left: [place(7e12, 1), place(1, 1_000_000), place(3, 1)], trail }

  it("lists every position where the client was, latest first", () => {
    const places = placesOf(position)
    assert.lengthOf(places, 4 + trailPlaces(trail).length)
    for (const [n, one] of places.slice(1).entries()) assert.isBelow(comparePlaces(one, places[n]!), 0)
    assert.deepStrictEqual(laterPlaces(position), [place(7e12, 1)])
    const left = [place(7e12, 1), place(1, 1), place(9e12, 1)]
    assert.deepStrictEqual(laterPlaces({ ...position, left }), [place(9e12, 1), place(7e12, 1)])
  })

  it("keeps only the client's position and where it left epochs when it has no trail", () => {
    const short = { ...place(5, 9), left: [place(3, 1)] }
    assert.deepStrictEqual(placesOf(short), [place(5, 9), place(3, 1)])
    assert.deepStrictEqual(resumeAt(place(3, 1), short), { ...place(3, 1), left: [place(5, 9)] })
  })

  it("keeps the ends of other epochs when sent back, but no more than a cursor may hold", () => {
    const [latest] = trailPlaces(trail)
    const led = resumeAt(latest!, position)
    assert.deepStrictEqual(led.left, [place(5e12, 9), place(7e12, 1), place(3, 1)])
    assert.deepStrictEqual(trailPlaces(led.trail!), trailPlaces(trail).slice(1))
    const many = { ...position, left: [1, 2, 3, 4].map((n) => place(n * 1e12, 1)) }
    assert.lengthOf(resumeAt(latest!, many).left!, KEPT_EPOCHS)
    assert.deepStrictEqual(resumeAt(FEED_START, { ...FEED_START, epoch: 3 }), {
      ...FEED_START,
      left: [{ ...FEED_START, epoch: 3 }],
    })
  })
})
