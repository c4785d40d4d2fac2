/**
 * The trail of a position in the feed: earlier places of the client, at distances that grow the further back they are.
 * A database that was restored to an earlier point within an epoch has lost the client's place and everything after
 * that point, and no clock shows where the point is. The latest place of the trail whose event the database still has
 * is certainly before that point, and the distance to it is not much longer than the loss: from there the client sees
 * some events again, and skips none.
 *
 * A trail is stored as text and parsed only when needed: while a client follows the feed event by event, all but one
 * page in {@link NEAREST_EVENTS} only increment a count. Text in the format of another version reads as an empty trail,
 * which leads further back and skips nothing.
 */
import type { FeedPlace, FeedTrail } from "./FeedStore.ts"

/** The latest place is about this many events back; the trail is rewritten when it is that far. */
const NEAREST_EVENTS = 32

/** Within a page, each place is this many times as far back as the one after it. */
const GROWTH = 4

/**
 * A place is removed once both its neighbours are within this factor of each other, so that the number of places is
 * logarithmic.
 */
const REACH = GROWTH * GROWTH

/** A longer text cannot be ours: it would be a trail over more events than there can be. */
const MAX_TEXT_LENGTH = 4_000

interface Milestone {
  /** How many events of this walk are between it and the position; an estimate after a database was restored. */
  readonly distance: number
  readonly place: FeedPlace
}

/**
 * The trail after `count` more events. `from` is the position before them, and `placeAt` returns the place of the n-th of
 * them. The beginning of the feed is in no trail: it is where a client continues if the database knows no other place.
 */
export const extendTrail = (
  trail: FeedTrail | undefined,
  from: FeedPlace,
  count: number,
  placeAt: (index: number) => FeedPlace,
): FeedTrail => {
  const since = (trail?.since ?? 0) + count
  const places = trail?.places ?? ""
  if (since < NEAREST_EVENTS) return { since, places }
  const milestones: Array<Milestone> = []
  for (let distance = NEAREST_EVENTS; distance < count; distance *= GROWTH) {
    milestones.push({ distance, place: placeAt(count - 1 - distance) })
  }
  if (from.epoch > 0) milestones.push({ distance: count, place: from })
  return written(thinned([...milestones, ...milestonesOf({ since, places })]), since)
}

/** The part of a trail that is before a place. */
export const trailBefore = (trail: FeedTrail, place: FeedPlace): FeedTrail => {
  const all = milestonesOf(trail)
  const before = all.filter((one) => comparePlaces(one.place, place) < 0)
  const distance = all[all.length - before.length - 1]?.distance ?? 0
  return written(
    before.map((one) => ({ ...one, distance: one.distance - distance })),
    0,
  )
}

/** The places of a trail, latest first. */
export const trailPlaces = (trail: FeedTrail): ReadonlyArray<FeedPlace> => milestonesOf(trail).map(({ place }) => place)

/** In the order of the feed. */
export const comparePlaces = (one: FeedPlace, other: FeedPlace): number =>
  one.epoch - other.epoch || (one.xid < other.xid ? -1 : one.xid > other.xid ? 1 : one.id - other.id)

/** Whether text and count can be a trail's; the text itself is validated only when it is parsed. */
export const isTrail = (since: string, places: string): boolean =>
  /^[0-9]{1,15}$/.test(since) && places.length <= MAX_TEXT_LENGTH && /^[-0-9.,]*$/.test(places)

const thinned = (milestones: ReadonlyArray<Milestone>): ReadonlyArray<Milestone> => {
  const kept: Array<Milestone> = []
  for (const one of milestones) {
    const nearer = kept.at(-2)?.distance ?? 0
    if (kept.length > 0 && one.distance <= Math.max(NEAREST_EVENTS / 2, REACH * nearer)) kept.pop()
    kept.push(one)
  }
  return kept
}

/**
 * Each place as differences from the previous one: events between, epoch, transaction id, id, microseconds of receipt.
 */
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
