/** A batch between its plan and the statement that accepts it. */

/**
 * A source table that receives rows from the batch. `rows` is a JSON array with one object per row, whose `_event_id` is
 * the event's position in the batch.
 */
export interface BatchTable {
  readonly sourceId: number
  readonly table: string
  readonly columns: ReadonlyArray<string>
  readonly rows: string
}

/** A batch as parallel arrays: one entry per event, and one per original request. */
export interface Batch {
  readonly request: ReadonlyArray<number>
  readonly sourceId: ReadonlyArray<number>
  readonly version: ReadonlyArray<number>
  readonly channel: ReadonlyArray<string>
  readonly history: ReadonlyArray<boolean>
  readonly empty: ReadonlyArray<boolean>
  /** Hexadecimal; null if repeats are not detected for this event. */
  readonly fingerprint: ReadonlyArray<string | null>
  readonly payload: ReadonlyArray<string>
  /** True if the row cannot be inserted into its table now and is deferred. */
  readonly waits: ReadonlyArray<boolean>
  /** The lock keys of equal bodies: one per event with a fingerprint, in order. */
  readonly bodyKeys: BigInt64Array
  /** Those keys sorted and without duplicates, so that two batches never deadlock. */
  readonly locks: ReadonlyArray<bigint>
  /** Whether no two events of the batch have the same body. */
  readonly distinct: boolean
  /** Whether each request is exactly one event and has an original request. */
  readonly single: boolean
  readonly originals: {
    readonly request: ReadonlyArray<number>
    readonly body: ReadonlyArray<Uint8Array>
    readonly bodyBytes: ReadonlyArray<number>
    readonly contentType: ReadonlyArray<string | null>
    readonly ip: ReadonlyArray<string | null>
    readonly referer: ReadonlyArray<string | null>
    readonly origin: ReadonlyArray<string | null>
    readonly userAgent: ReadonlyArray<string | null>
    readonly acceptLanguage: ReadonlyArray<string | null>
    readonly charset: ReadonlyArray<string>
    readonly charsetFrom: ReadonlyArray<string>
    readonly replaced: ReadonlyArray<number>
  }
  readonly tables: ReadonlyArray<BatchTable>
  /** Columns created for this batch, and the position in it of the event that each was created for. */
  readonly madeFor: {
    readonly sourceId: ReadonlyArray<number>
    readonly column: ReadonlyArray<string>
    readonly n: ReadonlyArray<number>
  }
  /** The requests that are slices of imports; usually none. */
  readonly staged: {
    readonly request: ReadonlyArray<number>
    readonly importId: ReadonlyArray<number>
    readonly version: ReadonlyArray<number>
    readonly first: ReadonlyArray<number>
    readonly last: ReadonlyArray<number>
  }
}
