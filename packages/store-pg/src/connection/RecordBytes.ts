/** The position of a record that PostgreSQL sent in its binary format. */

/** A range of bytes in the driver's buffer, which is never overwritten. Cheaper than a view. */
export interface RecordBytes {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

/** Size of a record's header: the number of its values. */
export const HEAD = 4

/** Size of a value's header: its type, and its size or -1 for NULL. */
export const VALUE_HEAD = 8
