/**
 * Reads rows on the reader's own connections, whose sessions are read-only, in UTC and under time limits from their
 * start. One query is one statement and one round trip; only where a customer's functions may have run is the session
 * put back in order after it.
 *
 * Where there is a standby that is near, it is asked first. What it cannot answer, for its connection is lost, a table is
 * newer than it, or its replay ended the query, the primary answers within what is left of the time.
 */
import { deadlines } from "@data-cabinet/core/cabinet/Deadlines"
import { ReadError, RefusedValue, StaleObject } from "@data-cabinet/core/row/ReadError"
import { type QueryRow, type RowQuery, RowReader } from "@data-cabinet/core/row/RowReader"
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Exit, Layer, Option, References, type Scope } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import { ReaderClient, type Standby } from "../connection/ReaderClient.ts"
import { settingsAreLoose } from "../connection/SessionPool.ts"
import { isAway, isRaisedWithin, sqlMessage, sqlState } from "../connection/StoreFailure.ts"
import { ObjectTurns } from "./ObjectTurns.ts"
import { RESET_SESSION, TRY_VALUE, withProof } from "./ReadStatement.ts"

type Connection = SqlConnection.Connection

/** How long a read waits for its turn, in milliseconds, before it is told to come back. */
const PATIENCE = 8_000

/** How much of the connections the reads of one object may take; the rest is left to the readers of others. */
const SHARE = 3 / 4

/** What a query's own time limit is given on top, in milliseconds, before the database is taken for frozen. */
const GRACE = 1_500

/** With less time than this left, in milliseconds, the primary is not asked as well. */
const LEAST_LEFT = 500

const off = (message: string) => new ReadError({ code: "reader_off", message, retryAfter: 2 })

const frozen = off("The reader's database does not answer.")

const busy = Exit.fail(
  new ReadError({
    code: "query_timeout",
    message: "Too many reads are waiting: this one did not get its turn in time.",
    retryAfter: 5,
  }),
)

export const layer = Layer.effect(
  RowReader,
  Effect.gen(function* () {
    const { client, maxConnections, statementTimeoutMillis, offReason, standby } = yield* ReaderClient
    if (Option.isNone(client)) return RowReader.of({ read: () => Effect.fail(off(offReason)) })
    const pool = client.value
    const share = Math.max(1, Math.floor(maxConnections * SHARE))
    const ends = yield* deadlines
    const turns = new ObjectTurns({ places: maxConnections, share, patience: PATIENCE, ends })
    const limit = statementTimeoutMillis + GRACE
    // A server that is frozen keeps to no time limit and answers no cancel: its reader is answered all the same, and the
    // connection is left to end by itself.
    const readOn = (pool: PgClient.PgClient, query: RowQuery, millis: number) =>
      ends.limit(millis, Effect.fail(frozen), query.inert ? readInert(pool, query) : readReserved(pool, query))
    const readNear = Effect.fnUntraced(function* (near: Standby, query: RowQuery) {
      const began = yield* Clock.currentTimeMillis
      return yield* readOn(near.client, query, limit).pipe(
        Effect.raceFirst(untilLost(near)),
        Effect.catchTag(["ReadError", "StaleObject"], (error) =>
          Effect.gen(function* () {
            const code = error._tag === "ReadError" ? error.code : undefined
            if (code === "reader_off") near.setAside()
            const left = began + limit - (yield* Clock.currentTimeMillis)
            if (code === "query_timeout" || left < LEAST_LEFT) return yield* error
            return yield* readOn(pool, query, left)
          }),
        ),
      )
    })
    return RowReader.of({
      read: (query) =>
        turns.take(
          query.object,
          busy,
          Effect.suspend(() => (standby?.isNear() === true ? readNear(standby, query) : readOn(pool, query, limit))),
        ),
    })
  }),
)

/** A read that a standby has begun when it freezes need not wait for the end of its time. */
const untilLost = (near: Standby): Effect.Effect<never, ReadError> =>
  Effect.suspend(() => (near.isLost() ? Effect.fail(frozen) : untilLost(near))).pipe(Effect.delay("500 millis"))

/** Whoever has a place finds a connection free, or opens one, which has a time limit of its own. */
const connect = (pool: PgClient.PgClient): Effect.Effect<Connection, ReadError, Scope.Scope> =>
  Effect.mapError(pool.reserve, readError)

type Rows = Effect.Effect<ReadonlyArray<QueryRow>, ReadError | RefusedValue | StaleObject>

/** The statement of a query and its values, with the question whether the object is what it was where that can be told. */
const statementOf = ({ text, values, proof }: RowQuery): readonly [text: string, values: ReadonlyArray<string>] => {
  const texts = values.map((value) => value.text)
  return proof === null ? [text, texts] : [withProof(text, texts.length), [...texts, String(proof.oid)]]
}

const proven = ({ proof }: RowQuery, found: ReadonlyArray<ReadonlyArray<unknown>>): Rows => {
  const rows = found as ReadonlyArray<QueryRow>
  return proof === null || rows.every((row) => row.at(-1) === proof.stamp) ? Effect.succeed(rows) : stale
}

/** A trace would have the names of the customer's columns. Where there is none, nothing needs to be told so. */
const untraced = <A, E>(run: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(References.TracerEnabled, (enabled) => (enabled ? Effect.withTracerEnabled(run, false) : run))

/** Nothing of a read but its rows is left behind: any session does, for no longer than its statement takes. */
const readInert = (pool: PgClient.PgClient, query: RowQuery): Rows => {
  const statement = pool.unsafe(...statementOf(query))
  const run = untraced(query.planAnew ? statement.valuesUnprepared : statement.values)
  return Effect.matchEffect(run, {
    onSuccess: (found) => proven(query, found),
    onFailure: (error) => {
      const verdict = readError(error)
      return verdict.code === "query_failed"
        ? Effect.scoped(Effect.flatMap(connect(pool), (connection) => failed(connection, query, verdict)))
        : Effect.fail(verdict)
    },
  })
}

/** Functions that a customer wrote may run: the session is put in order after them, before anybody else has it. */
const readReserved = (pool: PgClient.PgClient, query: RowQuery): Rows =>
  Effect.scoped(
    Effect.flatMap(connect(pool), (connection) => {
      const [text, values] = statementOf(query)
      const run = query.planAnew
        ? connection.executeValuesUnprepared(text, values)
        : connection.executeValues(text, values)
      return Effect.matchEffect(run, {
        onSuccess: (found) => proven(query, found),
        onFailure: (error) => failed(connection, query, readError(error)),
      }).pipe(Effect.ensuring(resetSession(connection)))
    }),
  )

const stale = Effect.fail(new StaleObject())

const failed = (connection: Connection, query: RowQuery, verdict: ReadError) =>
  Effect.flatMap(refusedValue(connection, query, verdict), Effect.fail)

const endSession = (connection: Connection) =>
  connection.executeUnprepared("SELECT pg_terminate_backend(pg_backend_pid())", [], undefined)

/** A session that cannot be put in order, or would not be as it has to be after it, is ended; the pool opens another. */
const resetSession = (connection: Connection): Effect.Effect<void> => {
  if (settingsAreLoose(connection)) return Effect.ignore(endSession(connection))
  return Effect.forEach(RESET_SESSION, (statement) => connection.executeUnprepared(statement, [], undefined), {
    discard: true,
  }).pipe(
    Effect.catch(() => endSession(connection)),
    Effect.ignore,
  )
}

/** Was it a value? Each is tried by itself, only now that something has failed, so that a good read pays nothing. */
const refusedValue = (
  connection: Connection,
  { values }: RowQuery,
  verdict: ReadError,
): Effect.Effect<ReadError | RefusedValue> => {
  if (verdict.code !== "query_failed") return Effect.succeed(verdict)
  return Effect.gen(function* () {
    for (const [index, { text, type }] of values.entries()) {
      const failed = yield* Effect.flip(connection.executeUnprepared(TRY_VALUE(type), [text], undefined)).pipe(
        Effect.option,
      )
      if (Option.isSome(failed) && readError(failed.value).code === "query_failed") {
        return new RefusedValue({ index, message: sqlMessage(failed.value) })
      }
    }
    return verdict
  })
}

const readError = (error: SqlError.SqlError): ReadError => {
  if (isRaisedWithin(error)) return new ReadError({ code: "query_failed", message: sqlMessage(error), retryAfter: 0 })
  const state = sqlState(error)
  switch (state) {
    case "55P03": // lock_not_available
    case "40P01": // deadlock_detected
      return new ReadError({
        code: "table_busy",
        message: "The table is locked by another session; ask again soon.",
        retryAfter: 2,
      })
    case "57014": // query_canceled
      return new ReadError({
        code: "query_timeout",
        message: "The query did not finish within its time limit.",
        retryAfter: 5,
      })
    case "25006": // read_only_sql_transaction: the view tried to write
    case "53100": // disk_full, out_of_memory, configuration_limit_exceeded: this query asked too much
    case "53200":
    case "53400":
      return new ReadError({ code: "query_failed", message: sqlMessage(error), retryAfter: 0 })
  }
  return isAway(error)
    ? off("The reader cannot connect to the database now.")
    : new ReadError({ code: "query_failed", message: sqlMessage(error), retryAfter: 0 })
}
