/**
 * Writes deferred rows: when their events were accepted, their table was locked, or could not get a new column in time.
 * One process at a time works source by source, in the order of the events; later rows of a source queue behind. A row
 * that cannot be written is set aside (`SetAsideRows`), so that later rows continue.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import { faultName } from "@data-cabinet/core/error/Fault"
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Layer } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import { connectionLossAsError } from "../connection/StoreFailure.ts"
import { RETRY_ALL_SET_ASIDE } from "./SetAsideStatement.ts"
import { retrySetAside } from "./SetAsideRows.ts"
import { type RowList, writeList } from "./RowList.ts"
import { readSlice } from "./StoredRows.ts"

/**
 * Also finds deferred rows of sources that are not flagged. An accept that still saw the flag may have been in flight when
 * it was cleared. Or the flag could not be set, because the source's row was locked, for example while a column is retyped.
 */
const FIND_SOURCES = `
WITH strays AS (
  UPDATE cabinet.source SET rows_deferred = true
  WHERE id IN (
    SELECT s.id FROM cabinet.source s
    WHERE NOT s.rows_deferred AND s.id IN (SELECT source_id FROM cabinet.deferred_row) FOR NO KEY UPDATE SKIP LOCKED
  ) RETURNING id
)
SELECT id::text AS id FROM cabinet.source WHERE rows_deferred UNION SELECT id::text FROM strays`

const READ_DEFERRED = readSlice(`
  SELECT w.event_id, e.payload::text AS payload FROM cabinet.deferred_row w JOIN cabinet.event e ON e.id = w.event_id
  WHERE w.source_id = $1`)

const FORGET = "DELETE FROM cabinet.deferred_row WHERE event_id = ANY ($1::int8[])"

const deferredOf = (sql: PgClient.PgClient, sourceId: number): RowList => ({
  sourceId,
  read: READ_DEFERRED,
  leave: (slice) => sql.unsafe(FORGET, [int8Array(slice.map(({ id }) => BigInt(id)))]),
  ended: sql`UPDATE cabinet.source SET rows_deferred = false WHERE id = ${sourceId}`,
})

/**
 * One round over all sources with deferred rows, and then over the due rows that were set aside. A source that is still
 * locked is retried in the next round.
 */
export const drainDeferredRows = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const sources = yield* sql.unsafe<{ id: string }>(FIND_SOURCES)
  yield* Effect.forEach(
    sources,
    ({ id }) =>
      writeList(sql, deferredOf(sql, Number(id))).pipe(
        Effect.catchCause((cause) => {
          if (Cause.hasInterrupts(cause)) return Effect.failCause(cause)
          // A source whose rows could not even be set aside must not block other sources.
          return Cause.hasDies(cause)
            ? Effect.logError(`rows of source ${id} are still deferred, by a fault: ${faultName(Cause.squash(cause))}`)
            : Effect.logDebug(`rows of source ${id} are still deferred`, cause)
        }),
      ),
    { discard: true },
  )
  yield* retrySetAside(sql)
})

/**
 * Runs every second in every process that accepts events or works in the background. All rows set aside are due at the
 * start, because it may follow a migration.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* Effect.ignoreCause(connectionLossAsError(sql.unsafe(RETRY_ALL_SET_ASIDE)))
    // Whatever needs the database reports that it is unavailable.
    yield* background("deferred row drain", "1 second", drainDeferredRows, { quiet: true })
  }).pipe(Effect.forkScoped),
)
