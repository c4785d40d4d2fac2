/** Values of JavaScript as parameters of statements. */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

const typed = (oid: number) => (values: ReadonlyArray<unknown>) => Result.getOrThrow(PgTypes.array(values, oid))

export const int4Array: (values: ReadonlyArray<number | null>) => unknown = typed(PgTypes.OID.int4)
export const boolArray: (values: ReadonlyArray<boolean | null>) => unknown = typed(PgTypes.OID.bool)
export const textArray: (values: ReadonlyArray<string | null>) => unknown = typed(PgTypes.OID.text)
export const byteaArray: (values: ReadonlyArray<Uint8Array | null>) => unknown = typed(PgTypes.OID.bytea)

const int8s = typed(PgTypes.OID.int8)
export const int8Array = (values: ReadonlyArray<number | bigint | null>): unknown =>
  int8s(values.map((value) => (typeof value === "number" ? BigInt(value) : value)))

/** Clamps a duration to what an `int4` column holds: a clock set meanwhile can make it negative, or years long. */
export const storableMillis = (millis: number): number => Math.max(0, Math.min(Math.round(millis), 2 ** 31 - 1))
