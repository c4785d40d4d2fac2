/**
 * Reads all rows of a query as of one moment, as the reader and read-only. A snapshot may take longer than a page, and
 * its memory does not grow with its rows.
 *
 * Decision: docs/decisions/0067-an-export-is-one-statement.md
 */
import { Context, type Result } from "effect"
import type { Items } from "../pagination/Items.ts"
import type { ReadError, RefusedValue, StaleObject } from "../row/ReadError.ts"
import type { PageQuery } from "../row/RowReader.ts"
import type { AbortableCall } from "../runtime/AbortableCall.ts"

/**
 * How long a snapshot may be held, in minutes. Until it ends, vacuum cannot remove rows deleted since, in any table of
 * the database.
 */
export const MAX_SNAPSHOT_MINUTES = 30

/** The most snapshots held at once in a process. */
export const MAX_SNAPSHOTS = 2

/** An open snapshot. */
export interface RowSnapshot {
  /** The next rows, in order; null after the last. After a failure the rows are incomplete. One call at a time. */
  readonly next: () => Promise<Result.Result<Items | null, ReadError>>
  /** Releases the snapshot; the caller that opened it must call this. */
  readonly close: () => void
}

/** A snapshot, or why it could not be opened. */
export type OpenedSnapshot = Result.Result<RowSnapshot, ReadError | RefusedValue | StaleObject>

/** Fails with `StaleObject` if the object no longer has the version that the query was written for. */
export class RowSnapshots extends Context.Service<
  RowSnapshots,
  { readonly open: (query: PageQuery, call: AbortableCall) => Promise<OpenedSnapshot> }
>()("@data-cabinet/core/export/RowSnapshots") {}
