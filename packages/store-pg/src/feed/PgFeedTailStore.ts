/**
 * The end of the feed, below the watermark and within the replicated part. As in its pages, the events are read in a
 * later snapshot than the watermark.
 */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { FEED_START, type FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import {
  type Arrivals,
  type Arrived,
  type CountBetween,
  type FeedStart,
  FeedTailStore,
} from "@data-cabinet/core/feed/FeedTailStore"
import { PgClient } from "@effect/sql-pg"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { FeedSessions } from "../connection/OwnerClient.ts"
import type { Session } from "../connection/ReaderSessions.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { type ColdList, ColdReader } from "./ColdReader.ts"
import { countCold, placeBefore, placeBeforeLast } from "./ColdStarts.ts"
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

type Cold = ColdReader["Service"]

/** Runs work in a session. None is held while files are read: other clients' pages need them. */
type InSession = <A, E>(
  work: (session: Session) => Effect.Effect<A, E>,
) => Effect.Effect<A, E | SqlError.SqlError | StoreUnavailable>

/** The end of an idle feed may be in a file. */
const endBelow = Effect.fnUntraced(function* (
  session: Session,
  cold: Cold,
  { epoch, bound, cold: version }: Watermark,
) {
  const [row] = yield* session.queryValues(END_OF_FEED, [epoch, bound])
  const end = row === undefined ? FEED_START : placeOf(row as unknown as PlaceRow)
  if (version === "0") return end
  const { border } = yield* cold.list(version)
  return border !== null && comparePlaces(border, end) > 0 ? border : end
})

/** Whether the event at a place has a row, or is in a file. */
const isThere = Effect.fnUntraced(function* (cold: Cold, { there, cold: version }: Watermark, place: FeedPlace) {
  if (there || version === "0") return there
  return yield* cold.reading((list) => cold.isThere(list, place), yield* cold.list(version))
})

const arrivalsIn = Effect.fnUntraced(function* (
  session: Session,
  { epoch, bound }: Watermark,
  after: FeedPlace,
  limit: number,
) {
  const values = [after.epoch, after.xid, after.id, epoch, bound, limit].map(String)
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

/** The events after a follower's position, which is in a file if nothing has arrived for long. */
const arrivalsAfter = Effect.fnUntraced(function* (inSession: InSession, cold: Cold, after: FeedPlace, limit: number) {
  const first = yield* inSession((session) =>
    Effect.gen(function* () {
      const mark = yield* watermark(session, after)
      return mark.there ? yield* arrivalsIn(session, mark, after, limit) : mark
    }),
  )
  if ("arrived" in first) return first
  const inFile = yield* isThere(cold, first, after)
  return yield* inSession((session) =>
    Effect.gen(function* () {
      const mark = yield* watermark(session, after)
      if (inFile || mark.there) return yield* arrivalsIn(session, mark, after, limit)
      const setBack: Arrivals = {
        arrived: [],
        end: yield* endBelow(session, cold, mark),
        hasMore: false,
        isSetBack: true,
      }
      return setBack
    }),
  )
})

type Filter = Pick<CountBetween, "sourceId" | "channel">
type Start = Exclude<FeedStart, "now">

const startAmongRows = (session: Session, { epoch, bound }: Watermark, { sourceId, channel }: Filter, start: Start) => {
  const [statement, value] = "last" in start ? [startBeforeLast, String(start.last)] : [startAtTime, start.time]
  const values = [epoch, bound, value, ...(sourceId === null ? [] : [String(sourceId)])]
  return Effect.map(session.queryValues(statement(channel, sourceId !== null), values), ([row]) =>
    row === undefined ? null : placeOf(row as unknown as PlaceRow),
  )
}

const countRows = Effect.fnUntraced(function* (session: Session, between: CountBetween) {
  const { after, until, sourceId, channel, limit } = between
  const places = [after, until].flatMap(({ epoch, xid, id }) => [epoch, xid, id].map(String))
  const values = [...places, String(limit), ...(sourceId === null ? [] : [String(sourceId)])]
  const [row] = yield* session.queryValues(countStatement(channel, sourceId !== null), values)
  const [events, rows] = row as [number, number]
  return { events, rows }
})

const MICROS =
  "SELECT (extract(epoch FROM $1::timestamptz - '2000-01-01 00:00:00+00'::timestamptz) * 1000000)::int8::text"

/** Where a reader begins if the rows do not reach that far back. */
const startInFiles = Effect.fnUntraced(function* (
  inSession: InSession,
  cold: Cold,
  list: ColdList,
  filter: Filter,
  start: Start,
  among: FeedPlace | null,
) {
  if ("last" in start) {
    if (among !== null) return among
    const until = { epoch: Number.MAX_SAFE_INTEGER, xid: 0n, id: 0 }
    const between = { ...filter, after: FEED_START, until, limit: start.last }
    const { events } = yield* inSession((session) => countRows(session, between))
    return yield* placeBeforeLast(cold, list, filter, start.last - events)
  }
  const [row] = yield* inSession((session) => session.queryValues(MICROS, [start.time]))
  const found = yield* placeBefore(cold, list, filter, BigInt(row![0] as string))
  if (found === null) return among ?? list.border ?? FEED_START
  return among !== null && comparePlaces(among, found) < 0 ? among : found
})

const startBelow = Effect.fnUntraced(function* (inSession: InSession, cold: Cold, filter: Filter, start: Start) {
  const { mark, among } = yield* inSession((session) =>
    Effect.gen(function* () {
      const now = yield* watermark(session, FEED_START)
      return { mark: now, among: yield* startAmongRows(session, now, filter, start) }
    }),
  )
  if (mark.cold === "0") return among ?? FEED_START
  const files = yield* cold.list(mark.cold)
  return yield* cold.reading((list) => startInFiles(inSession, cold, list, filter, start, among), files)
})

const count = Effect.fnUntraced(function* (inSession: InSession, cold: Cold, between: CountBetween) {
  const { after, limit } = between
  const { mark, counted } = yield* inSession((session) =>
    Effect.gen(function* () {
      return { mark: yield* watermark(session, after), counted: yield* countRows(session, between) }
    }),
  )
  if (!(yield* isThere(cold, mark, after))) return null
  if (mark.cold === "0") return counted
  const files = yield* cold.list(mark.cold)
  if (files.border === null || comparePlaces(after, files.border) >= 0) return counted
  const old = yield* cold.reading((list) => countCold(cold, list, between), files)
  if (old === null) return { events: limit, rows: limit }
  // A row that was brought back counts twice: the count is shown to people only.
  return {
    events: Math.min(limit, counted.events + old.events),
    rows: Math.min(limit, counted.rows + old.rows),
  }
})

export const layer = Layer.effect(
  FeedTailStore,
  Effect.gen(function* () {
    const sessions = yield* FeedSessions
    const replicated = yield* recoveredLog(yield* PgClient.PgClient)
    const inSession: InSession = (work) =>
      sessions.owed(sessions.use((session) => Effect.andThen(replicated(session), work(session))))
    const cold = yield* ColdReader
    return FeedTailStore.of({
      end: orUnavailable(
        inSession((session) => Effect.flatMap(watermark(session, FEED_START), (mark) => endBelow(session, cold, mark))),
      ),
      start: (filter, start) =>
        orUnavailable(
          start === "now"
            ? inSession((session) =>
                Effect.flatMap(watermark(session, FEED_START), (mark) => endBelow(session, cold, mark)),
              )
            : startBelow(inSession, cold, filter, start),
        ),
      arrivals: (after, limit) => orUnavailable(arrivalsAfter(inSession, cold, after, limit)),
      count: (between) => orUnavailable(count(inSession, cold, between)),
    })
  }),
)
