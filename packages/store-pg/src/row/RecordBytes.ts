/** Where a record lies that PostgreSQL sent, in its binary form. */

/** Where bytes lie that PostgreSQL sent: in what the driver read, and never writes again. Cheaper than a view of them. */
export interface RecordBytes {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

/** What comes before a record's values: how many there are. */
export const HEAD = 4

/** What comes before a value: its type, and its size or -1 for NULL. */
export const VALUE_HEAD = 8
