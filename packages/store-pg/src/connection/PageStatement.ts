/** A statement that reads a page of rows: how it is sent, where its rows are written, and its outcome. */
import { Result } from "effect"
import type { SqlError } from "effect/sql"

/** The consumer of the rows. */
export interface RowSink {
  /** The most bytes that a row may have. */
  readonly mostBytes: number
  /** Takes a DataRow's body. */
  readonly add: (bytes: DataView, start: number, end: number) => Added
  /** A row that is too long to be passed on. */
  readonly skipped: () => Added
  /** About how many more rows it has room for, at least one; called after a row. */
  readonly room: () => number
  /** Forgets all rows: the statement is run again. */
  readonly reset: () => void
}

/** `full`: no further row is wanted. `malformed`: the row does not match the statement. */
export type Added = "more" | "full" | "malformed"

export interface PageStatement {
  readonly text: string
  readonly values: ReadonlyArray<string>
  /** The types of its columns, by oid. */
  readonly types: ReadonlyArray<number>
  /** True if it is planned for these values alone. */
  readonly replan: boolean
  /** The statement that proves the object's version, and its parameters; null if nothing has to be proven. */
  readonly proof: { readonly text: string; readonly values: ReadonlyArray<string> } | null
  /**
   * True if rows are long: they are fetched a few at a time, until the sink is full. Otherwise all are sent at once, and
   * the statement is cancelled when the sink is full before them.
   */
  readonly areLong: boolean
}

/**
 * The result. `version`: the proof's value. `too long`: the rows are unexpectedly long. `other`: the statement returns
 * unexpected columns, so the object has changed.
 */
export type PageOutcome =
  | { readonly outcome: "read"; readonly version: string | null }
  | { readonly outcome: "too long" | "other" }

export type PageResult = Result.Result<PageOutcome, SqlError.SqlError>

/** The result for a caller that has left. */
export const NOBODY_WAITS: PageResult = Result.succeed({ outcome: "other" })

/** A page, and where its rows go. */
export interface PageToRead {
  readonly statement: PageStatement
  readonly rows: RowSink
}

/** How many long rows are fetched at once, at most: their lengths are known only after they were sent. */
const MOST_LONG_ROWS = 8

/** The long rows that are fetched at once: one, then twice as many each time. */
export class RowLot {
  size = 1
  /** How many of them have come. */
  came = 0

  get isComplete(): boolean {
    return this.came === this.size
  }

  /** Begins the next lot, of at most `room` rows, and returns its size. */
  next(room: number): number {
    this.size = Math.min(this.size * 2, room, MOST_LONG_ROWS)
    this.came = 0
    return this.size
  }

  restart(): void {
    this.size = 1
    this.came = 0
  }
}
