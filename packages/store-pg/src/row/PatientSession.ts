/** Runs statements on indexes, which cannot run in a transaction and may take very long on a large table. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { connectionLossAsError, orUnavailable } from "../connection/StoreFailure.ts"
import { Cancels } from "../connection/Uncancelled.ts"

/** Runs work without a time limit. */
export const patiently = <A, E, R>(work: Effect.Effect<A, E | StoreUnavailable | SqlError.SqlError, R>) =>
  connectionLossAsError(work).pipe(Effect.catchIf(SqlError.isSqlError, (error) => orUnavailable(Effect.fail(error))))

export const AS_IT_TAKES = ["SET statement_timeout = 0", "SET lock_timeout = 0"]
/** Settings for tidying up after a cancelled build: it gives up soon, because the next build removes what remains. */
export const SHORTLY = ["SET statement_timeout = 5000"]
const AS_BEFORE = ["RESET statement_timeout", "RESET lock_timeout"]

/** Runs statements on a dedicated session, until they are interrupted. */
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
