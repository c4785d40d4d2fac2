/**
 * How JSON that PostgreSQL made reaches a client unread. A result column of type varchar is handed over as its bytes,
 * with no text made of them on the way; every other type is what it always is. From text the cast costs nothing, and
 * nothing of ours has that type otherwise.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** The driver never writes again where it has read, so a view is enough. */
const view = (bytes: Uint8Array, offset: number, size: number) => Result.succeed(bytes.subarray(offset, offset + size))

export const passingThrough = (): PgTypes.Registry => {
  const types = PgTypes.makeRegistry()
  types.register<Uint8Array>(PgTypes.OID.varchar, {
    encode: (value) => Result.succeed(value),
    decode: (bytes) => Result.succeed(bytes),
    read: view,
  })
  return types
}
