/**
 * Reads rows in the reader's own sessions, which are read-only, in UTC and under time limits from the start. `ReadRows`
 * runs a read and takes care of its session; this module assigns its turn, its server and its time.
 *
 * If there is a standby that is near, it is tried first. If it fails because its connection is lost, a table is newer
 * than its state, or its replay cancelled the query, the primary runs the read within the remaining time.
 */
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import type { ReadError } from "@data-cabinet/core/row/ReadError"
import { type PageQuery, RowReader } from "@data-cabinet/core/row/RowReader"
import { quoteQualified } from "@data-cabinet/core/row/SqlName"
import { Clock, Effect, Exit, Layer, Option } from "effect"
import type { SqlError } from "effect/sql"
import { StatementClient } from "../connection/OwnerClient.ts"
import { ReaderClient, type Standby } from "../connection/ReaderClient.ts"
import { apartOf, partOf, type ReaderSessions } from "../connection/ReaderSessions.ts"
import { END_SESSION } from "../connection/ReaderStatement.ts"
import { ReadLimiter } from "./ReadLimiter.ts"
import { queryTimeout, readerOff } from "./ReadFailure.ts"
import { type ReadPlace, readRows, type RowQuery, type Rows } from "./ReadRows.ts"

/** How long a read waits for its turn, in milliseconds, before the caller is told to retry later. */
const READ_TIMEOUT_MILLIS = 8_000

/** Added to a query's own time limit, in milliseconds, before the database counts as frozen. */
const GRACE = 1_500

/** The same before a query counts as one that evades its time limit. */
const EVADED = 250

/** With less time left than this, in milliseconds, the primary is not tried as well. */
const LEAST_LEFT = 500

const frozen = readerOff("The reader's database does not answer.")

const busy = Exit.fail(queryTimeout("Too many reads are waiting: this one did not get its turn in time."))

export const layer = Layer.effect(
  RowReader,
  Effect.gen(function* () {
    const { sessions, role, maxConnections, statementTimeoutMillis, offReason, standby } = yield* ReaderClient
    const owner = yield* StatementClient
    if (Option.isNone(sessions)) return RowReader.of({ read: () => Effect.fail(readerOff(offReason)) })
    const ends = yield* timerWheel
    const turns = new ReadLimiter({
      places: maxConnections,
      share: partOf(maxConnections, 3 / 4),
      apart: { places: apartOf(maxConnections), share: partOf(maxConnections, 1 / 2) },
      queueTimeoutMillis: READ_TIMEOUT_MILLIS,
      ends,
    })
    const limit = statementTimeoutMillis + GRACE

    /** The reader may terminate its own backends, but a view's function might hinder that, so `others` is tried first. */
    const placeOf = (
      of: ReaderSessions,
      others: (pid: number) => Effect.Effect<boolean, SqlError.SqlError>,
    ): ReadPlace => ({
      sessions: of,
      ends,
      millis: statementTimeoutMillis + EVADED,
      end: (pid, object) =>
        others(pid).pipe(
          Effect.catch(() => of.end(pid)),
          Effect.tap((ended) =>
            ended ? Effect.logWarning(`a read of ${object} did not end by itself: its session was ended`) : Effect.void,
          ),
          Effect.catch(() => Effect.logWarning(`a read of ${object} does not end, and its session cannot be ended`)),
          Effect.asVoid,
        ),
    })
    const primary = placeOf(sessions.value, (pid) =>
      Effect.map(owner.unsafe<{ ended: boolean }>(END_SESSION, [String(pid), role]), ([row]) => row?.ended === true),
    )

    // A frozen server enforces no time limit and handles no cancel: the caller gets its response all the same, and the
    // connection is left to end by itself.
    const readOn = (place: ReadPlace, query: RowQuery, millis: number) =>
      ends.limit(millis, Effect.fail(frozen), readRows(place, query))
    const readNear = Effect.fnUntraced(function* (near: Standby, place: ReadPlace, query: RowQuery) {
      const began = yield* Clock.currentTimeMillis
      return yield* readOn(place, query, limit).pipe(
        Effect.raceFirst(untilLost(near)),
        Effect.catchTag(["ReadError", "StaleObject"], (error) =>
          Effect.gen(function* () {
            const code = error._tag === "ReadError" ? error.code : undefined
            if (code === "reader_off") near.setAside()
            const left = began + limit - (yield* Clock.currentTimeMillis)
            if (code === "query_timeout" || left < LEAST_LEFT) return yield* error
            return yield* readOn(primary, query, left)
          }),
        ),
      )
    })
    const away = standby === undefined ? undefined : placeOf(standby.sessions, standby.sessions.end)
    const run = (query: RowQuery): Rows =>
      turns.acquire(
        { object: query.object, runsNoUserCode: query.page.runsNoUserCode },
        busy,
        Effect.suspend(() =>
          standby?.isNear() === true && away !== undefined
            ? readNear(standby, away, query)
            : readOn(primary, query, limit),
        ),
      )
    return RowReader.of({ read: (query) => run(rowQuery(query)) })
  }),
)

const rowQuery = (page: PageQuery): RowQuery => {
  const { detail, catalogVersion, oid, owner } = page.table
  return {
    page,
    object: quoteQualified(detail.schema, detail.name),
    expectedVersion: catalogVersion === null ? null : { oid, catalogVersion, owner },
  }
}

/** Ends a read on a standby that freezes, without waiting for its time limit. */
const untilLost = (near: Standby): Effect.Effect<never, ReadError> =>
  Effect.suspend(() => (near.isLost() ? Effect.fail(frozen) : untilLost(near))).pipe(Effect.delay("500 millis"))
