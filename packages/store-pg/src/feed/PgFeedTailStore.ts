/**
 * The end of the feed, below the watermark and within the replicated part. As in its pages, the events are read in a
 * later snapshot than the watermark.
 */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { FEED_START, type FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import {
  type Arrivals,
  type Arrived,
  type CountBetween,
  type FeedStart,
  FeedTailStore,
} from "@data-cabinet/core/feed/FeedTailStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { FeedSessions } from "../connection/OwnerClient.ts"
import type { Session } from "../connection/ReaderSessions.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { recoveredLog } from "./RecoveredLog.ts"
import { ARRIVALS, countStatement, END_OF_FEED, startAtTime, startBeforeLast } from "./TailStatement.ts"
import { type Watermark, watermark } from "./Fence.ts"

type PlaceRow = readonly [epoch: string, xid: string, id: string, receivedAt: string]

type ArrivedRow = readonly [sourceId: number, channel: string, events: number, rows: number, ...place: PlaceRow]

const placeOf = ([epoch, xid, id, receivedAt]: PlaceRow): FeedPlace => ({
  epoch: Number(epoch),
  xid: BigInt(xid),
  id: Number(id),
  receivedAt: BigInt(receivedAt),
})

const endBelow = (session: Session, { epoch, bound }: Watermark) =>
  Effect.map(session.queryValues(END_OF_FEED, [epoch, bound]), ([row]) =>
    row === undefined ? FEED_START : placeOf(row as unknown as PlaceRow),
  )

const arrivalsIn = Effect.fnUntraced(function* (session: Session, after: FeedPlace, limit: number) {
  const mark = yield* watermark(session, after)
  if (!mark.there) {
    const setBack: Arrivals = { arrived: [], end: yield* endBelow(session, mark), hasMore: false, isSetBack: true }
    return setBack
  }
  const values = [after.epoch, after.xid, after.id, mark.epoch, mark.bound, limit].map(String)
  const rows = (yield* session.queryValues(ARRIVALS, values)) as unknown as ReadonlyArray<ArrivedRow>
  const arrived = rows.map(([sourceId, name, events, withRow]): Arrived => {
    const channel = CHANNELS.find((known) => known === name)!
    return { sourceId, channel, events, rows: withRow }
  })
  const [first] = rows
  const total = arrived.reduce((sum, { events }) => sum + events, 0)
  const arrivals: Arrivals = {
    arrived,
    end: first === undefined ? after : placeOf(first.slice(4) as unknown as PlaceRow),
    hasMore: total === limit,
  }
  return arrivals
})

const startBelow = (
  session: Session,
  { epoch, bound }: Watermark,
  { sourceId, channel }: Pick<CountBetween, "sourceId" | "channel">,
  start: Exclude<FeedStart, "now">,
) => {
  const [statement, value] = "last" in start ? [startBeforeLast, String(start.last)] : [startAtTime, start.time]
  const values = [epoch, bound, value, ...(sourceId === null ? [] : [String(sourceId)])]
  return Effect.map(session.queryValues(statement(channel, sourceId !== null), values), ([row]) =>
    row === undefined ? FEED_START : placeOf(row as unknown as PlaceRow),
  )
}

export const layer = Layer.effect(
  FeedTailStore,
  Effect.gen(function* () {
    const sessions = yield* FeedSessions
    const replicated = yield* recoveredLog(yield* PgClient.PgClient)
    const inSession = <A, E>(work: (session: Session) => Effect.Effect<A, E>) =>
      sessions.owed(sessions.use((session) => Effect.andThen(replicated(session), work(session))))
    return FeedTailStore.of({
      end: orUnavailable(
        inSession((session) => Effect.flatMap(watermark(session, FEED_START), (mark) => endBelow(session, mark))),
      ),
      start: (filter, start) =>
        orUnavailable(
          inSession((session) =>
            Effect.flatMap(watermark(session, FEED_START), (mark) =>
              start === "now" ? endBelow(session, mark) : startBelow(session, mark, filter, start),
            ),
          ),
        ),
      arrivals: (after, limit) => orUnavailable(inSession((session) => arrivalsIn(session, after, limit))),
      count: ({ after, until, sourceId, channel, limit }) =>
        orUnavailable(
          inSession(
            Effect.fnUntraced(function* (session) {
              if (!(yield* watermark(session, after)).there) return null
              const places = [after, until].flatMap(({ epoch, xid, id }) => [epoch, xid, id].map(String))
              const values = [...places, String(limit), ...(sourceId === null ? [] : [String(sourceId)])]
              const [row] = yield* session.queryValues(countStatement(channel, sourceId !== null), values)
              const [events, rows] = row as [number, number]
              return { events, rows }
            }),
          ),
        ),
    })
  }),
)
