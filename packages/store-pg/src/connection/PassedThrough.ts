/**
 * How what PostgreSQL sent reaches a client, or what writes its JSON: a result of the type record is handed over as where
 * its bytes lie, and one of type varchar as its bytes, with no text made of them on the way. From text the cast to varchar
 * costs nothing, and nothing of ours has these types otherwise; every other type is what it always is.
 */
import type { SentBytes } from "@data-cabinet/core/row/SentBytes"
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** A column of this type is handed over as its bytes in UTF-8: for JSON that passes through unread. */
export const BYTES = "pg_catalog.varchar"

const RECORD = 2249

// The driver never writes again where it has read.
const view = (bytes: Uint8Array, offset: number, size: number) => Result.succeed(bytes.subarray(offset, offset + size))

const whereItLies = (bytes: Uint8Array, offset: number, size: number): Result.Result<SentBytes> =>
  Result.succeed({ bytes, start: offset, end: offset + size })

export const passingThrough = (): PgTypes.Registry => {
  const types = PgTypes.makeRegistry()
  types.register<Uint8Array>(PgTypes.OID.varchar, {
    encode: (value) => Result.succeed(value),
    decode: (bytes) => Result.succeed(bytes),
    read: view,
  })
  types.register<SentBytes>(RECORD, {
    encode: ({ bytes, start, end }) => Result.succeed(bytes.subarray(start, end)),
    decode: (bytes) => whereItLies(bytes, 0, bytes.length),
    read: whereItLies,
  })
  return types
}
