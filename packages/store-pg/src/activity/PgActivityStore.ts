/** Counts in PostgreSQL. The transaction that counts also moves the cursor, so counts and cursor cannot differ. */
import {
  type ActivityBucket,
  ActivityStore,
  type AttemptCounts,
  type SourceActivity,
  type WaitingDeliveries,
} from "@data-cabinet/core/activity/ActivityStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { WATERMARK } from "../feed/Fence.ts"
import * as Statement from "./ActivityStatement.ts"

interface CursorRow {
  readonly epoch: string
  readonly xid: string
  readonly id: string
}

type Sql = PgClient.PgClient

/** Runs work that moves the cursor, in the cursor's transaction; null while another process counts. */
const withCursor = <A>(sql: Sql, work: (cursor: CursorRow) => Effect.Effect<A, SqlError.SqlError>) =>
  sql.withTransaction(
    Effect.flatMap(sql.unsafe<CursorRow>(Statement.CURSOR), ([cursor]) =>
      cursor === undefined ? Effect.succeed(null) : work(cursor),
    ),
  )

interface Uncounted {
  readonly any: boolean
  readonly at: string | null
}

const uncounted = (sql: Sql) => Effect.map(sql.unsafe<Uncounted>(Statement.FIRST_UNCOUNTED), ([row]) => row!)

/** The events are read in a later snapshot than the watermark, as in the feed's pages. */
const countNext = (sql: Sql, limit: number) =>
  withCursor(
    sql,
    Effect.fnUntraced(function* ({ epoch, xid, id }) {
      const [mark] = yield* sql.unsafe<{ epoch: string; bound: string }>(WATERMARK, [0, 0, 0, 0])
      const values = [epoch, xid, id, mark!.epoch, mark!.bound, limit]
      const [row] = yield* sql.unsafe<{ events: number }>(Statement.COUNT_EVENTS, values)
      return row!.events
    }),
  )

const countEvents = (sql: Sql, limit: number) =>
  Effect.flatMap(uncounted(sql), ({ any }) =>
    any ? Effect.map(countNext(sql, limit), (events) => events ?? 0) : Effect.succeed(0),
  )

const nextAttempts = (sql: Sql) =>
  Effect.map(sql.unsafe<{ since: string; until: string }>(Statement.NEXT_ATTEMPTS), ([row]) => row)

const countAttempts = Effect.fnUntraced(function* (sql: Sql) {
  if ((yield* nextAttempts(sql)) === undefined) return false
  const counted = yield* withCursor(
    sql,
    Effect.fnUntraced(function* () {
      const next = yield* nextAttempts(sql)
      if (next !== undefined) yield* sql.unsafe(Statement.COUNT_ATTEMPTS, [next.since, next.until])
      return next !== undefined
    }),
  )
  return counted === true
})

interface SourceRow {
  readonly sourceId: number
  readonly lastAt: string | null
  readonly lastEventId: number | null
  readonly since: string | null
  readonly seconds: number | null
  readonly activeDays: number
  readonly usualSeconds: number | null
}

interface DayRow {
  readonly sourceId: number
  readonly ago: number
  readonly events: number
}

const toSource = (
  { since, seconds, activeDays, usualSeconds, ...row }: SourceRow,
  days: ReadonlyArray<number>,
): SourceActivity => ({
  ...row,
  days,
  silence: since === null || seconds === null ? null : { since, seconds, activeDays, usualSeconds },
})

const sources = Effect.fnUntraced(function* (sql: Sql, days: number, timeZone: string) {
  const counted = new Map<number, Array<number>>()
  for (const { sourceId, ago, events } of yield* sql.unsafe<DayRow>(Statement.DAYS, [days, timeZone])) {
    const of = counted.get(sourceId) ?? Array.from({ length: days }, () => 0)
    counted.set(sourceId, of)
    // An event dated before the clock was set back is outside this period.
    if (ago >= 0 && ago < days) of[days - 1 - ago] = events
  }
  const none = Array.from({ length: days }, () => 0)
  const rows = yield* sql.unsafe<SourceRow>(Statement.SOURCES)
  return rows.map((row) => toSource(row, counted.get(row.sourceId) ?? none))
})

export const layer = Layer.effect(
  ActivityStore,
  Effect.map(PgClient.PgClient, (sql) =>
    ActivityStore.of({
      countEvents: (limit) => orUnavailable(countEvents(sql, limit)),
      countAttempts: orUnavailable(countAttempts(sql)),
      events: ({ sourceId, step, from, to, last, timeZone }) => {
        const zone = step === "hour" ? "UTC" : timeZone
        return orUnavailable(sql.unsafe<ActivityBucket>(Statement.EVENTS, [sourceId, from, to, last, step, zone]))
      },
      sources: ({ days, timeZone }) => orUnavailable(sources(sql, days, timeZone)),
      attempts: (hours) => orUnavailable(sql.unsafe<AttemptCounts>(Statement.ATTEMPTS, [hours])),
      waitingAtFailing: orUnavailable(sql.unsafe<WaitingDeliveries>(Statement.WAITING_AT_FAILING)),
      firstUncounted: orUnavailable(Effect.map(uncounted(sql), ({ at }) => at)),
    }),
  ),
)
