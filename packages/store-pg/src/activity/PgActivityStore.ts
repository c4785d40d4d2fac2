/** Counts in PostgreSQL. The transaction that counts also moves the follower, so counts and position cannot differ. */
import { ACTIVITY } from "@data-cabinet/core/activity/CountActivity"
import {
  type ActivityBucket,
  ActivityStore,
  type AttemptCounts,
  type SourceActivity,
  type WaitingDeliveries,
} from "@data-cabinet/core/activity/ActivityStore"
import type { HeldFollower } from "@data-cabinet/core/follower/FollowerStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { followOn, type WhichFollower } from "../follower/FollowerTransaction.ts"
import * as Statement from "./ActivityStatement.ts"

type Sql = PgClient.PgClient

interface Uncounted {
  readonly any: boolean
  readonly at: string | null
}

const uncounted = (sql: Sql) => Effect.map(sql.unsafe<Uncounted>(Statement.FIRST_UNCOUNTED), ([row]) => row!)

interface CountedRow {
  readonly epoch: number
  readonly xid: string
  readonly id: number
  readonly events: number
}

const countNext = (sql: Sql, limit: number, which: WhichFollower) =>
  followOn(
    sql,
    which,
    Effect.fnUntraced(function* ({ epoch, xid, id }, mark) {
      const values = [epoch, xid, id, mark.epoch, mark.bound, limit]
      const [last] = yield* sql.unsafe<CountedRow>(Statement.COUNT_EVENTS, values)
      return last === undefined
        ? { place: null, result: 0 }
        : { place: { epoch: last.epoch, xid: BigInt(last.xid), id: last.id }, result: last.events }
    }),
  )

const countEvents = Effect.fnUntraced(function* (sql: Sql, limit: number, held: HeldFollower | null) {
  if (held === null && !(yield* uncounted(sql)).any) return 0
  const counted = yield* countNext(sql, limit, held ?? { kind: ACTIVITY, name: ACTIVITY })
  return counted === null ? (held === null ? 0 : null) : counted.result
})

const nextAttempts = (sql: Sql) =>
  Effect.map(sql.unsafe<{ since: string; until: string }>(Statement.NEXT_ATTEMPTS), ([row]) => row)

const countAttempts = Effect.fnUntraced(function* (sql: Sql) {
  if ((yield* nextAttempts(sql)) === undefined) return false
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      if ((yield* sql.unsafe(Statement.LOCK_ATTEMPTS)).length === 0) return false
      const next = yield* nextAttempts(sql)
      if (next !== undefined) yield* sql.unsafe(Statement.COUNT_ATTEMPTS, [next.since, next.until])
      return next !== undefined
    }),
  )
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
      countEvents: (limit, held) => orUnavailable(countEvents(sql, limit, held)),
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
