/** Places of the feed that are found in the files of cold history: where a reader without a cursor begins, and what it has missed. */
import type { ColdEvent, ColdFailure } from "@data-cabinet/core/cold/ColdFiles"
import { FEED_START, type FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import type { CountBetween } from "@data-cabinet/core/feed/FeedTailStore"
import { Effect } from "effect"
import type { ColdList, ColdReader } from "./ColdReader.ts"

type Filter = Pick<CountBetween, "sourceId" | "channel">
type Reader = ColdReader["Service"]

/** Longer than any accept lives: an event may come this much later in the feed than others that were received after it. */
const DISORDER_MICROS = 60_000_000n

const isOf =
  ({ sourceId, channel }: Filter) =>
  (event: ColdEvent): boolean =>
    (sourceId === null || event.sourceId === sourceId) && (channel === null || event.channel === channel)

const placeOf = ({ epoch, xid, id, receivedAt }: ColdEvent): FeedPlace => ({ epoch, xid, id, receivedAt })

/** The place before the first event that was received at or after a time; null if no file has one. */
export const placeBefore = Effect.fnUntraced(function* (
  cold: Reader,
  list: ColdList,
  filter: Filter,
  micros: bigint,
): Effect.fn.Return<FeedPlace | null, ColdFailure> {
  const wants = isOf(filter)
  let before: FeedPlace = FEED_START
  let found: FeedPlace | null = null
  // The group before the first that can have it ends with the place before it.
  yield* cold.scan(
    list,
    ({ times }) => times[1] >= micros - DISORDER_MICROS,
    (events) =>
      Effect.sync(() => {
        const index = events.findIndex((event) => event.receivedAt >= micros && wants(event))
        if (index >= 0) found = index === 0 ? before : placeOf(events[index - 1]!)
        before = placeOf(events.at(-1)!)
        return index < 0
      }),
  )
  return found
})

/** The place before the last `count` events of the files; the beginning if they have no more. */
export const placeBeforeLast = Effect.fnUntraced(function* (
  cold: Reader,
  list: ColdList,
  filter: Filter,
  count: number,
) {
  const wants = isOf(filter)
  let left = count
  let found: FeedPlace = FEED_START
  yield* cold.scan(
    list,
    () => true,
    (events) =>
      Effect.sync(() => {
        for (const event of events.toReversed()) {
          if (!wants(event)) continue
          if (left === 0) {
            found = placeOf(event)
            return false
          }
          left--
        }
        return true
      }),
    true,
  )
  return found
})

/** Counts events of files between two places, and those that have a row. Null if there are more than the limit. */
export const countCold = Effect.fnUntraced(function* (
  cold: Reader,
  list: ColdList,
  { after, until, limit, ...filter }: CountBetween,
) {
  const wants = isOf(filter)
  const { events, upTo } = yield* cold.walk(list, {
    after,
    limit,
    sources: filter.sourceId === null ? null : [filter.sourceId],
    wants: (event) => wants(event) && comparePlaces(event, until) <= 0,
  })
  if (upTo !== null) return null
  const rows = events.filter(
    ({ repeatOf, deletedAt, spam }) => repeatOf === null && deletedAt === null && spam === null,
  )
  return { events: events.length, rows: rows.length }
})
