/** Statements on indexes, which cannot run in a transaction and take as long as the table is large. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { connectionLossAsError, orUnavailable } from "../connection/StoreFailure.ts"
import { Cancels } from "../connection/Uncancelled.ts"

/** Without a time limit: a large table takes as long as it takes. */
export const patiently = <A, E, R>(work: Effect.Effect<A, E | StoreUnavailable | SqlError.SqlError, R>) =>
  connectionLossAsError(work).pipe(Effect.catchIf(SqlError.isSqlError, (error) => orUnavailable(Effect.fail(error))))

export const AS_IT_TAKES = ["SET statement_timeout = 0", "SET lock_timeout = 0"]
/** A cancelled build does not wait for other sessions: the next build removes the remains. */
export const SHORTLY = ["SET statement_timeout = 5000"]
const AS_BEFORE = ["RESET statement_timeout", "RESET lock_timeout"]

/** Runs statements on a session of their own, until they are interrupted. */
export const outsideTransactions =
  (sql: PgClient.PgClient) =>
  (statements: ReadonlyArray<string>, limits = AS_IT_TAKES) =>
    Effect.flatMap(sql.reserve, (session) => {
      const say = (statement: string) => session.executeUnprepared(statement, [], undefined)
      return Effect.ensuring(
        Effect.forEach([...limits, ...statements], say, { discard: true }),
        Effect.ignore(Effect.forEach(AS_BEFORE, say, { discard: true })),
      )
    }).pipe(Effect.scoped, Effect.provideService(Cancels, true))
