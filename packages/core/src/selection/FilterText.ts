/**
 * Converts the value of a filter to PostgreSQL's form. A value may also be in its displayed form: bytes as base64, and
 * an array or a composite value as JSON.
 */
import type { ArrayType, ColumnType, CompositeType } from "../row/ColumnType.ts"
import { isJsonList, JsonNumber, type Json } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"
import { parseJson } from "../json/ParseJson.ts"
import { Result } from "effect"

/** Undefined if the type has no such value. PostgreSQL decides about all others. */
export const filterText = (type: ColumnType, value: string): string | undefined => {
  if (type.kind === "bytea") return bytesText(value)
  if (type.kind === "composite" && value.trimStart().startsWith("{")) {
    const parsed = parseJson(value)
    // PostgreSQL's own form begins with a parenthesis, so it refuses whatever else begins with a brace.
    return Result.isFailure(parsed) || !(parsed.success instanceof Map) ? value : recordText(type, parsed.success)
  }
  if (type.kind !== "array" || !value.trimStart().startsWith("[")) return value
  const parsed = parseJson(value)
  // `[2:3]={1,2}` is PostgreSQL's own form.
  if (Result.isFailure(parsed) || !isJsonList(parsed.success)) return value
  return VECTORS.has(type.sql) ? vectorText(parsed.success) : arrayText(type, parsed.success)
}

/** Lists of the catalogs, which PostgreSQL writes without brackets. */
const VECTORS: ReadonlySet<string> = new Set([`"pg_catalog"."int2vector"`, `"pg_catalog"."oidvector"`])

const vectorText = (items: ReadonlyArray<Json>): string | undefined => {
  const texts = items.map((item) => (item instanceof JsonNumber ? item.token : undefined))
  return texts.includes(undefined) ? undefined : texts.join(" ")
}

const bytesText = (base64: string): string | undefined => {
  const bytes = Buffer.from(base64, "base64")
  return bytes.toString("base64") === base64 ? `\\x${bytes.toString("hex")}` : undefined
}

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, "\\$&")}"`

const arrayText = (type: ArrayType, items: ReadonlyArray<Json>): string | undefined => {
  const texts: Array<string> = []
  for (const item of items) {
    // A list inside a list is another dimension, unless the elements are JSON themselves.
    const isNested = isJsonList(item) && type.element.kind !== "json" && type.element.kind !== "jsonb"
    const text = isNested ? arrayText(type, item) : elementText(type.element, item)
    if (text === undefined) return undefined
    texts.push(text === null ? "NULL" : isNested ? text : quoted(text))
  }
  return `{${texts.join(",")}}`
}

/** Null for NULL. */
const elementText = (type: ColumnType, value: Json): string | null | undefined => {
  if (value === null) return null
  if (type.kind === "json" || type.kind === "jsonb") return jsonText(value)
  if (type.kind === "array" && isJsonList(value)) return arrayText(type, value)
  if (type.kind === "composite" && value instanceof Map) return recordText(type, value)
  if (value instanceof JsonNumber) return value.token
  if (typeof value === "boolean") return String(value)
  if (typeof value !== "string") return undefined
  return type.kind === "bytea" ? bytesText(value) : value
}

const recordText = ({ fields }: CompositeType, members: ReadonlyMap<string, Json>): string | undefined => {
  const names = new Set(fields.map(({ name }) => name))
  if ([...members.keys()].some((name) => !names.has(name))) return undefined
  const texts: Array<string> = []
  for (const { name, type } of fields) {
    const text = elementText(type, members.get(name) ?? null)
    if (text === undefined) return undefined
    texts.push(text === null ? "" : quoted(text))
  }
  return `(${texts.join(",")})`
}
