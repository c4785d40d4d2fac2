/**
 * How rows reach what writes their JSON: a result of the type record is handed over as where its bytes lie, with nothing
 * made of it on the way. Every other type is what it always is.
 */
import type { SentBytes } from "@data-cabinet/core/row/SentRow"
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

const RECORD = 2249

/** The driver never writes again where it has read. */
const whereItLies = (bytes: Uint8Array, offset: number, size: number): Result.Result<SentBytes> =>
  Result.succeed({ bytes, start: offset, end: offset + size })

export const passingThrough = (): PgTypes.Registry => {
  const types = PgTypes.makeRegistry()
  types.register<SentBytes>(RECORD, {
    encode: ({ bytes, start, end }) => Result.succeed(bytes.subarray(start, end)),
    decode: (bytes) => whereItLies(bytes, 0, bytes.length),
    read: whereItLies,
  })
  return types
}
