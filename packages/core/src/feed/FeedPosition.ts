/** Moves positions in the feed: forward over a page, or back to a place that a restored database still has. */
import { FEED_START, type FeedPlace, type FeedPosition, KEPT_EPOCHS } from "./FeedStore.ts"
import { comparePlaces, extendTrail, trailBefore, trailPlaces } from "./FeedTrail.ts"

/**
 * The position after a page of `count` events that follow `from` in the order of the feed; `placeAt` returns the place of
 * each, from 0.
 */
export const advance = (from: FeedPosition, count: number, placeAt: (index: number) => FeedPlace): FeedPosition => {
  if (count === 0) return from
  const { left = [], trail, ...start } = from
  const end = placeAt(count - 1)
  return {
    ...end,
    ...ifAny(end.epoch === start.epoch ? left : leftBehind(start, left, count, placeAt)),
    trail: extendTrail(trail, start, count, placeAt),
  }
}

/**
 * The position moved back to one of its earlier places, or to the beginning. Positions read in other epochs stay known,
 * including later ones.
 */
export const resumeAt = (place: FeedPlace, { left = [], trail, ...from }: FeedPosition): FeedPosition => ({
  ...place,
  ...ifAny([from, ...left].filter((one) => isLeft(one, place)).slice(0, KEPT_EPOCHS)),
  ...(trail === undefined || place.epoch === FEED_START.epoch ? {} : { trail: trailBefore(trail, place) }),
})

/** All places where the client was according to its position, in the order of the feed, latest first. */
export const placesOf = ({ left = [], trail, ...place }: FeedPosition): ReadonlyArray<FeedPlace> =>
  [place, ...left, ...(trail === undefined ? [] : trailPlaces(trail))].sort((one, other) => comparePlaces(other, one))

/** The places where the client left later epochs, latest first: the database of such an epoch may have returned. */
export const laterPlaces = ({ epoch, left = [] }: FeedPosition): ReadonlyArray<FeedPlace> =>
  left.filter((one) => one.epoch > epoch).sort((one, other) => comparePlaces(other, one))

/**
 * Whether a position proves that the database was set back while its server kept running: the database lacks its event,
 * and the current epoch began no later. New events must then belong to a later epoch.
 */
export const provesSetBack = (isThere: boolean, { epoch }: FeedPlace, currentEpoch: number): boolean =>
  !isThere && epoch >= currentEpoch

const ifAny = (left: ReadonlyArray<FeedPlace>) => (left.length === 0 ? {} : { left })

const isLeft = (one: FeedPlace, now: FeedPlace): boolean => one.epoch !== now.epoch && one.epoch !== FEED_START.epoch

const leftBehind = (
  from: FeedPlace,
  left: ReadonlyArray<FeedPlace>,
  count: number,
  placeAt: (index: number) => FeedPlace,
): ReadonlyArray<FeedPlace> => {
  let before = from
  let behind = left
  for (let index = 0; index < count;) {
    const place = placeAt(index)
    if (place.epoch !== before.epoch) {
      behind = [before, ...behind.filter((one) => one.epoch !== before.epoch)]
        .filter((one) => isLeft(one, place))
        .slice(0, KEPT_EPOCHS)
    }
    index = epochEnd(place.epoch, index, count, placeAt)
    before = placeAt(index - 1)
  }
  return behind
}

/** The index after the last place of the epoch that has a place at `index`; the places are in the order of the feed. */
const epochEnd = (epoch: number, index: number, count: number, placeAt: (index: number) => FeedPlace): number => {
  if (placeAt(count - 1).epoch === epoch) return count
  let [within, beyond] = [index, count - 1]
  while (beyond - within > 1) {
    const middle = (within + beyond) >>> 1
    if (placeAt(middle).epoch === epoch) within = middle
    else beyond = middle
  }
  return beyond
}
