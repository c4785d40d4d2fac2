/** The building blocks of the schemas. */
import type { JsonSchema } from "@data-cabinet/core/json/Shape"

export const text = (description: string): JsonSchema => ({ type: "string", description })
export const textOrNull = (description: string): JsonSchema => ({ type: ["string", "null"], description })
export const whole = (description: string): JsonSchema => ({ type: "integer", minimum: 0, description })
export const wholeOrNull = (description: string): JsonSchema => ({ type: ["integer", "null"], minimum: 0, description })
export const flag = (description: string): JsonSchema => ({ type: "boolean", description })
export const texts = (description: string): JsonSchema => ({ type: "array", items: { type: "string" }, description })

/** Ids end at 2^53 - 1, so that every JSON reader holds them exactly. */
export const id = (description: string, example: number): JsonSchema => ({
  type: "integer",
  format: "int64",
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description,
  examples: [example],
})

export const time = (description: string): JsonSchema => ({
  type: "string",
  format: "date-time",
  description: `${description} RFC 3339 in UTC.`,
  examples: ["2026-11-21T09:30:00Z"],
})

export const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema["type"], "null"] })

/** All of the properties are required but those that are `optional`. */
export const object = (
  properties: { readonly [name: string]: JsonSchema },
  description: string,
  optional: { readonly [name: string]: JsonSchema } = {},
): JsonSchema => ({
  type: "object",
  description,
  required: Object.keys(properties),
  properties: { ...properties, ...optional },
})

/** The three fields of every list, around its items. */
export const page = (
  item: JsonSchema,
  nextCursor: JsonSchema,
  more: { readonly [name: string]: JsonSchema } = {},
): JsonSchema =>
  object(
    {
      data: { type: "array", items: item },
      has_more: { type: "boolean", description: "Whether more can be read immediately with `next_cursor`." },
      next_cursor: nextCursor,
      ...more,
    },
    "A list.",
  )
