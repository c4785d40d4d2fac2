/**
 * How what PostgreSQL sent reaches what writes JSON of it: a result of the types record and json is handed over as where its
 * bytes lie, with no text made of them on the way. Every other type is what it always is.
 */
import type { RecordBytes } from "../row/RecordBytes.ts"
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

const RECORD = 2249

// The driver never writes again where it has read.
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
