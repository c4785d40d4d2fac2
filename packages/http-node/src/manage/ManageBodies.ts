/** The fields that bodies of the management API share. */
import { type Camel, camelKey, type Snake } from "@data-cabinet/core/json/KeyCase"
import { Schema } from "effect"

/** A text that PostgreSQL can store: without U+0000, and in whole characters. */
export const text = (most: number, description: string) =>
  Schema.String.check(
    Schema.isMaxLength(most),
    Schema.makeFilter((value: string) =>
      value.includes("\0") || !value.isWellFormed() ? "Expected text without U+0000 and lone surrogates" : undefined,
    ),
  ).annotate({ description })

export const nameField = text(200, "A name of 1 to 200 characters.").check(Schema.isMinLength(1))

export const idField = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

export const lifetimeField = Schema.NullOr(
  Schema.Int.check(Schema.isBetween({ minimum: 60, maximum: 3_650 * 86_400 })),
).annotate({ description: "Seconds until it expires, from a minute to ten years; null or absent: never." })

/** The declarations of a body, which must omit no member of the type. */
export type BodyFields<A> = { readonly [K in keyof A as Snake<K>]-?: Schema.Top }

/** A body's fields under their names in the program; missing fields stay missing. */
export const camelFields = <B extends object>(body: B): { readonly [K in keyof B as Camel<K>]: B[K] } =>
  Object.fromEntries(Object.entries(body).map(([key, value]) => [camelKey(key), value as unknown])) as never
