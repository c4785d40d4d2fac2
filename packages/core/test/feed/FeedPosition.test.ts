import { advance, laterPlaces, resumeAt } from "@data-cabinet/core/feed/FeedPosition"
import { FEED_START, type FeedPlace, type FeedPosition, KEPT_EPOCHS } from "@data-cabinet/core/feed/FeedStore"
import { trailPlaces } from "@data-cabinet/core/feed/FeedTrail"
import { assert, it } from "@effect/vitest"
import { Random, Seed } from "../intake/Random.ts"

const place = (epoch: number, id: number): FeedPlace => ({ epoch, xid: BigInt(id), id, receivedAt: BigInt(id) })

/** Events in the order of the feed. */
const eventsOf = (...counts: ReadonlyArray<number>) =>
  counts.flatMap((count, epoch) => Array.from({ length: count }, (_, n) => place(epoch + 1, 1 + n)))

const walk = (from: FeedPosition, events: ReadonlyArray<FeedPlace>, pageOf: () => number): FeedPosition => {
  let position = from
  for (let at = 0; at < events.length;) {
    const page = events.slice(at, at + pageOf())
    position = advance(position, page.length, (index) => page[index]!)
    at += page.length
  }
  return position
}

it.prop(
  "a client that reads on remembers where it left the last epochs, for any page size",
  [Seed],
  ([seed]) => {
    const random = new Random(seed)
    const counts = [1, ...random.list(7, () => random.below(9))]
    const events = eventsOf(...counts)
    const { left = [], trail, ...end } = walk(FEED_START, events, () => 1 + random.below(12))
    assert.deepStrictEqual(end, events.at(-1))
    const ends = counts.flatMap((count, index) => (count === 0 ? [] : [place(index + 1, count)]))
    assert.deepStrictEqual(left, ends.toReversed().slice(1, 1 + KEPT_EPOCHS))
    for (const one of trailPlaces(trail!)) assert.deepInclude(events, one)
  },
  { arbitrary: { runs: 500 } },
)

it("advance keeps the position on a page without events", () => {
  const position = walk(FEED_START, eventsOf(3, 2), () => 2)
  assert.strictEqual(
    advance(position, 0, () => assert.fail("there is no event")),
    position,
  )
})

it("resumeAt keeps later places until the client reaches them again", () => {
  const before = walk(FEED_START, eventsOf(5, 4, 3), () => 2)
  const back = resumeAt(place(1, 2), before)
  assert.deepStrictEqual(laterPlaces(back), [place(3, 3), place(2, 4)])
  const again = advance(back, 4, (index) => [place(1, 3), place(2, 1), place(2, 2), place(2, 3)][index]!)
  assert.deepStrictEqual(again.left, [place(1, 3), place(3, 3)])
  const on = advance(again, 2, (index) => [place(2, 4), place(3, 1)][index]!)
  assert.deepStrictEqual(on.left, [place(2, 4), place(1, 3)])
  assert.deepStrictEqual(laterPlaces(on), [])
})

it("resumeAt to the beginning leaves no trail and no place in epoch 0", () => {
  const before = walk(FEED_START, eventsOf(100), () => 10)
  assert.isNotEmpty(trailPlaces(before.trail!))
  const back = resumeAt(FEED_START, before)
  assert.deepStrictEqual(back, { ...FEED_START, left: [place(1, 100)] })
  assert.isUndefined(walk(back, eventsOf(3), () => 1).left)
})
