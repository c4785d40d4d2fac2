/**
 * The trail of a position in the feed: places where the client was before, at distances that grow the further back they
 * are. A database that was set back within an epoch has lost the client's place and all after the point it was set back
 * to, and no clock tells where that point is. The latest place of the trail whose event it still has lies before that
 * point for sure, and not much further back than the loss is long: from there the client sees some events again, and skips
 * none.
 *
 * A trail is kept as text and only read when it is needed: while a client follows the feed event by event, all but one
 * page in {@link NEAR} only counts on. Text that another version wrote in another form reads as an empty trail, which
 * leads back further and skips nothing.
 */
import type { FeedPlace, FeedTrail } from "./FeedStore.ts"

/** The latest place is about so many events back, and the trail is rewritten once it is. */
const NEAR = 32

/** Within a page, each place is so many times as far back as the one after it. */
const GROWTH = 4

/** A place is left out once those on both sides of it are within this factor, so that their number is logarithmic. */
const REACH = GROWTH * GROWTH

/** A longer text is none of ours: it would be a trail over more events than there can be. */
const MAX_TEXT = 4_000

interface Milestone {
  /** How many events of this walk stand between it and the position; after a database was set back an estimate. */
  readonly distance: number
  readonly place: FeedPlace
}

/**
 * The trail after `count` more events. `from` is the position before them, and `placeAt` the place of the n-th of them.
 * The beginning of the feed is in no trail: it is where whoever finds nothing else begins.
 */
export const extendTrail = (
  trail: FeedTrail | undefined,
  from: FeedPlace,
  count: number,
  placeAt: (index: number) => FeedPlace,
): FeedTrail => {
  const since = (trail?.since ?? 0) + count
  const places = trail?.places ?? ""
  if (since < NEAR) return { since, places }
  const milestones: Array<Milestone> = []
  for (let distance = NEAR; distance < count; distance *= GROWTH) {
    milestones.push({ distance, place: placeAt(count - 1 - distance) })
  }
  if (from.epoch > 0) milestones.push({ distance: count, place: from })
  return written(thinned([...milestones, ...milestonesOf({ since, places })]), since)
}

/** The part of a trail that lies before a place. */
export const trailBefore = (trail: FeedTrail, place: FeedPlace): FeedTrail => {
  const all = milestonesOf(trail)
  const before = all.filter((one) => comparePlaces(one.place, place) < 0)
  const distance = all[all.length - before.length - 1]?.distance ?? 0
  return written(
    before.map((one) => ({ ...one, distance: one.distance - distance })),
    0,
  )
}

/** The places of a trail, the latest first. */
export const trailPlaces = (trail: FeedTrail): ReadonlyArray<FeedPlace> => milestonesOf(trail).map(({ place }) => place)

/** In the order of the feed. */
export const comparePlaces = (one: FeedPlace, other: FeedPlace): number =>
  one.epoch - other.epoch || (one.xid < other.xid ? -1 : one.xid > other.xid ? 1 : one.id - other.id)

/** Whether text and count may be a trail's; what the text says is only believed when it is read. */
export const isTrail = (since: string, places: string): boolean =>
  /^[0-9]{1,15}$/.test(since) && places.length <= MAX_TEXT && /^[-0-9.,]*$/.test(places)

const thinned = (milestones: ReadonlyArray<Milestone>): ReadonlyArray<Milestone> => {
  const kept: Array<Milestone> = []
  for (const one of milestones) {
    const nearer = kept.at(-2)?.distance ?? 0
    if (kept.length > 0 && one.distance <= Math.max(NEAR / 2, REACH * nearer)) kept.pop()
    kept.push(one)
  }
  return kept
}

/** Each as its differences from the one before: events between, epoch, transaction id, id, microseconds of its receipt. */
const written = (milestones: ReadonlyArray<Milestone>, since: number): FeedTrail => {
  let before: Milestone = { distance: milestones[0]?.distance ?? 0, place: { epoch: 0, xid: 0n, id: 0 } }
  const texts = milestones.map((one) => {
    const { place } = one
    const text = [
      one.distance - before.distance,
      place.epoch - before.place.epoch,
      place.xid - before.place.xid,
      place.id - before.place.id,
      (place.receivedAt ?? 0n) - (before.place.receivedAt ?? 0n),
    ].join(".")
    before = one
    return text
  })
  return { since: milestones[0]?.distance ?? since, places: texts.join(",") }
}

const milestonesOf = ({ since, places }: FeedTrail): ReadonlyArray<Milestone> => {
  if (places === "") return []
  const milestones: Array<Milestone> = []
  let [distance, epoch, id, xid, receivedAt] = [since, 0, 0, 0n, 0n]
  for (const text of places.split(",")) {
    const parts = text.split(".")
    if (parts.length !== 5 || !parts.every((part) => /^-?[0-9]{1,19}$/.test(part))) return []
    distance += Number(parts[0])
    epoch += Number(parts[1])
    xid += BigInt(parts[2]!)
    id += Number(parts[3])
    receivedAt += BigInt(parts[4]!)
    if (!inRange(epoch, xid, id, receivedAt)) return []
    milestones.push({ distance, place: { epoch, xid, id, receivedAt } })
  }
  return milestones
}

const LONG = 2n ** 63n

const inRange = (epoch: number, xid: bigint, id: number, receivedAt: bigint): boolean =>
  Number.isSafeInteger(epoch) &&
  Number.isSafeInteger(id) &&
  epoch >= 0 &&
  id >= 0 &&
  xid >= 0n &&
  xid < LONG &&
  receivedAt >= -LONG &&
  receivedAt < LONG
