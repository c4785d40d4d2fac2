/** Reads the values of keywords: what a keyword needs for it, and the kinds of values that several keywords share. */
import { isJsonList, type Json, JsonNumber, type JsonObject } from "../json/Json.ts"
import type { LinearPattern } from "./LinearPattern.ts"
import type { Rule, SchemaNode } from "./SchemaRun.ts"

/** Reads the values of one schema's keywords; an invalid value ends the reading. */
export interface KeywordReader {
  readonly refuse: (keyword: string, why: string) => never
  /** `path`: from this schema. */
  readonly schema: (value: Json, ...path: ReadonlyArray<string>) => SchemaNode
  readonly pattern: (source: string, ...path: ReadonlyArray<string>) => LinearPattern
  readonly reference: (target: string) => SchemaNode
  /** All keywords of the schema. */
  readonly all: JsonObject
}

/** Reads the value of a keyword; null if it makes no rule. */
export type Keyword = (value: Json, keyword: string, reader: KeywordReader) => Rule | null

/** A count. */
export const whole = (value: Json, keyword: string, { refuse }: KeywordReader): number => {
  const count = value instanceof JsonNumber ? Number(value.token) : Number.NaN
  return Number.isSafeInteger(count) && count >= 0 ? count : refuse(keyword, "must be a whole number")
}

/** A number. */
export const number = (value: Json, keyword: string, { refuse }: KeywordReader): JsonNumber =>
  value instanceof JsonNumber ? value : refuse(keyword, "must be a number")

/** A list of names. */
export const names = (value: Json, keyword: string, { refuse }: KeywordReader): ReadonlyArray<string> =>
  isJsonList(value) && value.every((name) => typeof name === "string")
    ? value
    : refuse(keyword, "must be a list of names")

/** An object. */
export const members = (value: Json, keyword: string, { refuse }: KeywordReader): JsonObject =>
  value instanceof Map ? value : refuse(keyword, "must be an object")

/** A list of schemas. */
export const schemas = (value: Json, keyword: string, reader: KeywordReader): ReadonlyArray<SchemaNode> =>
  isJsonList(value) && value.length > 0
    ? value.map((one, index) => reader.schema(one, keyword, String(index)))
    : reader.refuse(keyword, "must be a list of schemas, not empty")

/** Schemas by their names. */
export const named = (
  value: Json,
  keyword: string,
  reader: KeywordReader,
): ReadonlyArray<readonly [string, SchemaNode]> =>
  [...members(value, keyword, reader)].map(([name, one]) => [name, reader.schema(one, keyword, name)])
