/**
 * Retries rows that were set aside, at increasing intervals, until the database accepts them. No other row waits for them.
 * Once a row with some cause is written, the other rows with that cause follow at once.
 *
 * Decision: docs/decisions/0079-rows-that-the-database-refuses.md
 */
import type { PgClient } from "@effect/sql-pg"
import { Cause, Effect } from "effect"
import { type RowList, writeList } from "./RowList.ts"
import { DUE_CAUSES, NEXT_SET_ASIDE, RETRY_SAME_CAUSE } from "./SetAsideStatement.ts"
import { forgetSetAside, readSlice } from "./StoredRows.ts"

/** How many rows with the same cause a round tries without a success. */
const ATTEMPTS = 10

const READ_DUE = readSlice(NEXT_SET_ASIDE)

interface DueCause {
  readonly sourceId: number
  readonly reason: string
}

const dueOf = (sql: PgClient.PgClient, { sourceId, reason }: DueCause): RowList => ({
  sourceId,
  read: READ_DUE,
  parameters: [reason],
  leave: (_, complete) => forgetSetAside(sql, complete),
  ended: Effect.void,
})

const retryCause = Effect.fnUntraced(function* (sql: PgClient.PgClient, cause: DueCause) {
  // One by one until one is written, because rows with the same cause probably all fail or all succeed.
  const complete = yield* writeList(sql, dueOf(sql, cause), { begin: 1, attempts: ATTEMPTS })
  if (complete === 0) return
  yield* sql.unsafe(RETRY_SAME_CAUSE, [cause.sourceId, cause.reason])
  yield* Effect.logInfo(`rows of source ${cause.sourceId} that were set aside are written again`)
})

/** One round over the causes with rows whose retry is due. */
export const retrySetAside = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const causes = yield* sql.unsafe<DueCause>(DUE_CAUSES)
  yield* Effect.forEach(
    causes,
    (cause) =>
      Effect.catchCause(retryCause(sql, cause), (failure) =>
        Cause.hasInterrupts(failure)
          ? Effect.failCause(failure)
          : Effect.logDebug(`rows of source ${cause.sourceId} stay set aside`, failure),
      ),
    { discard: true },
  )
})
