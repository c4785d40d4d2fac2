/**
 * Writes the rows of a list of stored events, slice by slice. After a slice fails, smaller slices follow until the faulty row
 * is alone. That row is set aside, and the others are written.
 */
import type { PgClient } from "@effect/sql-pg"
import { counted } from "@data-cabinet/core/text/Counted"
import { Cause, Effect, Exit } from "effect"
import { SqlError } from "effect/sql"
import { connectionLossAsError, isConflict, isUnavailable } from "../connection/StoreFailure.ts"
import { setRefusedAside, SLICE_BYTES, type SliceRow, type WrittenRows, writeStoredRows } from "./StoredRows.ts"

/** How many rows are written under one lock of the source. */
const SLICE_ROWS = 500

/** Events of one source whose rows are to be written. */
export interface RowList {
  readonly sourceId: number
  /** A statement of `readSlice`. */
  readonly read: string
  /** The parameters of `read` from the fourth on. */
  readonly parameters?: ReadonlyArray<unknown>
  /** Takes the finished events of a slice off the list; `complete` are those whose rows have all their fields. */
  readonly leave: (
    slice: ReadonlyArray<SliceRow>,
    complete: ReadonlyArray<string>,
  ) => Effect.Effect<unknown, SqlError.SqlError>
  /** Runs in the transaction that finds the list empty. */
  readonly ended: Effect.Effect<unknown, SqlError.SqlError>
}

interface Progress extends WrittenRows {
  readonly more: boolean
}

/** Runs work in a transaction that holds the source; does nothing while another process holds it. */
const holding = (
  sql: PgClient.PgClient,
  { sourceId }: RowList,
  work: Effect.Effect<Progress, SqlError.SqlError>,
): Effect.Effect<Progress, SqlError.SqlError> =>
  connectionLossAsError(
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`SET LOCAL lock_timeout = 200`
        const [mine] = yield* sql`SELECT 1 FROM cabinet.source WHERE id = ${sourceId} FOR UPDATE SKIP LOCKED`
        return mine === undefined ? { complete: [], setAside: 0, more: false } : yield* work
      }),
    ),
  )

const nextOf = (sql: PgClient.PgClient, { sourceId, read, parameters = [] }: RowList, size: number) =>
  sql.unsafe<SliceRow>(read, [sourceId, size, SLICE_BYTES, ...parameters])

const writeSlice = (sql: PgClient.PgClient, list: RowList, size: number) =>
  holding(
    sql,
    list,
    Effect.gen(function* () {
      const slice = yield* nextOf(sql, list, size)
      // True if the limit of bytes ended the slice, rather than the end of the list.
      const more = slice.at(-1)?.last === true
      const written = yield* writeStoredRows(sql, list.sourceId, slice)
      yield* list.leave(slice, written.complete)
      if (!more) yield* list.ended
      return { ...written, more }
    }),
  )

const setFirstAside = (sql: PgClient.PgClient, list: RowList, fault: unknown) =>
  holding(
    sql,
    list,
    Effect.gen(function* () {
      const slice = yield* nextOf(sql, list, 1)
      const [first] = slice
      if (first === undefined) return { complete: [], setAside: 0, more: false }
      const isAside = yield* setRefusedAside(sql, list.sourceId, first, fault)
      const complete = isAside ? [] : [first.id]
      yield* list.leave(slice, complete)
      return { complete, setAside: isAside ? 1 : 0, more: true }
    }),
  )

/** Continues with a smaller slice, or sets the faulty row aside once it is alone. */
const afterFailure = (sql: PgClient.PgClient, list: RowList, size: number, cause: Cause.Cause<SqlError.SqlError>) => {
  if (Cause.hasInterrupts(cause)) return Effect.failCause(cause)
  const fault = Cause.squash(cause)
  // Such a failure is temporary, and says nothing about the row.
  if (SqlError.isSqlError(fault) && (isUnavailable(fault) || isConflict(fault))) return Effect.failCause(cause)
  return size > 1
    ? Effect.succeed<Progress>({ complete: [], setAside: 0, more: true })
    : setFirstAside(sql, list, fault)
}

/**
 * Writes the rows of a list, and returns how many are complete. `begin` is the size of the first slice; after `attempts` rows
 * have been set aside, it ends.
 */
export const writeList = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  list: RowList,
  { begin = SLICE_ROWS, attempts = Number.POSITIVE_INFINITY } = {},
): Effect.fn.Return<number, SqlError.SqlError> {
  let complete = 0
  let aside = 0
  for (let size = begin; ;) {
    const exit = yield* Effect.exit(writeSlice(sql, list, size))
    const progress = Exit.isSuccess(exit) ? exit.value : yield* afterFailure(sql, list, size, exit.cause)
    complete += progress.complete.length
    aside += progress.setAside
    if (!progress.more || aside >= attempts) break
    size = Exit.isSuccess(exit) ? Math.min(SLICE_ROWS, size * 4) : Math.ceil(size / 4)
  }
  if (aside > 0 && attempts === Number.POSITIVE_INFINITY) {
    yield* Effect.logError(
      `${counted(aside, "row")} of source ${list.sourceId} cannot be written to the table and ${aside === 1 ? "is" : "are"} set aside; the events themselves are complete: cabinet doctor shows the reason`,
    )
  }
  return complete
})
