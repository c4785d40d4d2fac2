/**
 * Passes results on to the JSON encoders undecoded: a value of type record or json is returned as the position of its
 * bytes in the buffer, without building a text on the way. Every other type is decoded as usual.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

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

const RECORD = 2249

// Safe, because the driver never overwrites a buffer that it has read.
const whereItLies = (bytes: Uint8Array, offset: number, size: number): Result.Result<RecordBytes> =>
  Result.succeed({ bytes, start: offset, end: offset + size })

export const rawTypes = (): PgTypes.Registry => {
  const types = PgTypes.makeRegistry()
  for (const type of [RECORD, PgTypes.OID.json]) {
    types.register<RecordBytes>(type, {
      encode: ({ bytes, start, end }) => Result.succeed(bytes.subarray(start, end)),
      decode: (bytes) => whereItLies(bytes, 0, bytes.length),
      read: whereItLies,
    })
  }
  return types
}
