/** What a batch is between its plan and the statement that accepts it. */

/** A source table that the batch puts rows into: `rows` is a JSON array, one object a row, `_event_id` its event's place in the batch. */
export interface BatchTable {
  readonly sourceId: number
  readonly table: string
  readonly columns: ReadonlyArray<string>
  readonly rows: string
}

/** A batch as arrays: one entry an event, and one an original request. */
export interface Batch {
  readonly request: ReadonlyArray<number>
  readonly sourceId: ReadonlyArray<number>
  readonly version: ReadonlyArray<number>
  readonly channel: ReadonlyArray<string>
  readonly history: ReadonlyArray<boolean>
  readonly empty: ReadonlyArray<boolean>
  /** In hexadecimal; null where repeats are not looked for. */
  readonly fingerprint: ReadonlyArray<string | null>
  readonly payload: ReadonlyArray<string>
  /** True where the row cannot be put into its table now and waits. */
  readonly waits: ReadonlyArray<boolean>
  /** What equal bodies queue on: one key for each event that has a fingerprint, in their order. */
  readonly bodyKeys: BigInt64Array
  /** Those keys sorted and distinct, so that two batches never wait for each other crosswise. */
  readonly locks: ReadonlyArray<bigint>
  /** Whether no two of its events have the same body. */
  readonly distinct: boolean
  /** Whether each of its requests is one event and has an original. */
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
  /** Columns that were made for this batch, and the place in it of the event that each was made for. */
  readonly madeFor: {
    readonly sourceId: ReadonlyArray<number>
    readonly column: ReadonlyArray<string>
    readonly n: ReadonlyArray<number>
  }
  /** The requests that are slices of imports; mostly none. */
  readonly staged: {
    readonly request: ReadonlyArray<number>
    readonly importId: ReadonlyArray<number>
    readonly version: ReadonlyArray<number>
    readonly first: ReadonlyArray<number>
    readonly last: ReadonlyArray<number>
  }
}
