/** Positions in the feed as they move along: which place is left behind at the end of each epoch. */
import { type FeedPlace, type FeedPosition, LEFT_EPOCHS } from "./FeedStore.ts"
import { receivedAtOf, type EncodedEvent } from "./EventsToJson.ts"

const placeOf = (event: EncodedEvent): FeedPlace => ({
  epoch: Number(event[1]),
  xid: event[2],
  id: Number(event[3]),
  receivedAt: receivedAtOf(event),
})

const withLeft = (place: FeedPlace, left: ReadonlyArray<FeedPlace>): FeedPosition =>
  left.length === 0 ? place : { ...place, left }

const leave = ({ epoch }: FeedPlace, place: FeedPlace, left: ReadonlyArray<FeedPlace>): ReadonlyArray<FeedPlace> =>
  [place, ...left.filter((one) => one.epoch !== place.epoch)].filter((one) => one.epoch !== epoch).slice(0, LEFT_EPOCHS)

/** After the last of these events, which follow `from` in the order of the feed. */
export const movedOn = ({ left = [], ...from }: FeedPosition, events: ReadonlyArray<EncodedEvent>): FeedPosition => {
  const last = events.at(-1)
  if (last === undefined) return withLeft(from, left)
  const end = placeOf(last)
  if (end.epoch === from.epoch) return withLeft(end, left)
  let place: FeedPlace = from
  let behind = left
  for (const [at, event] of events.entries()) {
    if (Number(event[1]) === place.epoch) continue
    const before = at === 0 ? from : placeOf(events[at - 1]!)
    place = placeOf(event)
    behind = leave(place, before, behind)
  }
  return withLeft(end, behind)
}

/** At `place`, which is in an epoch of the position, or before all; the other places of it are remembered. */
export const movedTo = (place: FeedPlace, { left = [], ...from }: FeedPosition): FeedPosition =>
  withLeft(
    place,
    [from, ...left].filter((one) => one.epoch !== place.epoch),
  )

/** The places of a position, those of later epochs first. */
export const placesOf = ({ left = [], ...place }: FeedPosition): ReadonlyArray<FeedPlace> =>
  [place, ...left].sort((one, other) => other.epoch - one.epoch)

/** Whether the client was in a later epoch before: then its database may be back that knows it. */
export const cameFromLater = ({ epoch, left }: FeedPosition): boolean =>
  left !== undefined && left.some((one) => one.epoch > epoch)
