/** Runs the query of a page where it can do no harm: as the reader, read-only, within its limits. */
import { Context, type Effect } from "effect"
import type { RecordBytes } from "./RecordBytes.ts"
import type { ReadError, RefusedValue, StaleObject } from "./ReadError.ts"

/** A parameter's text, and the type that the query casts it to. */
export interface QueryValue {
  readonly text: string
  readonly type: string
}

export interface RowQuery {
  /** The object that is read: reads of one object never take all places of the others. */
  readonly object: string
  /** Every column it returns is text, or bytes. */
  readonly text: string
  readonly values: ReadonlyArray<QueryValue>
  /** False when functions that a customer wrote may run: the session is put back in order afterwards. */
  readonly runsNoUserCode: boolean
  /** True where the best way to the rows depends on the values: it is then looked for again at every read. */
  readonly replan: boolean
  /** The object, and the stamp that it must still bear in the moment of the read; null where nothing is to be proven. */
  readonly expectedVersion: { readonly oid: number; readonly catalogVersion: string } | null
}

/** A row as the query returned it, column by column. */
export type QueryRow = ReadonlyArray<string | RecordBytes | null>

/**
 * Runs one query in a read-only transaction of the reader role, under a time limit and a lock limit. Interrupting it
 * cancels the query in the database.
 */
export class RowReader extends Context.Service<
  RowReader,
  { readonly read: (query: RowQuery) => Effect.Effect<ReadonlyArray<QueryRow>, ReadError | RefusedValue | StaleObject> }
>()("@data-cabinet/core/row/RowReader") {}
