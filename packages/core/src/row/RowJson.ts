/**
 * Writes SQL that makes the JSON of values that are not read as they are sent (`SentRow`), and the text to search: numbers keep
 * every digit, moments are RFC 3339 in UTC, bytes are base64, structures stay structures, and what has no form of its
 * own in JSON is its text. Relies on a session in UTC with ISO dates. Nothing here comes from a request.
 */
import type { ArrayType, ColumnType } from "./ColumnType.ts"
import { quoteName } from "./SqlName.ts"

/** A key of an object and the SQL of its value. */
export interface JsonField {
  readonly name: string
  readonly sql: string
}

/** The row of these fields as a subquery, and its JSON: `row_to_json` names each key by its column. */
export const rowSelect = (fields: ReadonlyArray<JsonField>): string =>
  `SELECT ${fields.map(({ name, sql }) => `${sql} AS ${quoteName(name)}`).join(", ")}`

/** to_json writes `2026-01-02T03:04:05.6+00:00`, with ` BC` after it where it belongs, or `infinity`. */
const momentText = (value: string): string => `replace(btrim(to_json(${value})::text, '"'), '+00:00', 'Z')`

const bytesText = (value: string): string => `translate(encode(${value}, 'base64'), chr(10), '')`

/** SQL whose own type makes to_json write the value in our form; NULL stays NULL. */
export const jsonValue = (type: ColumnType, value: string, depth = 0): string => {
  if (type.plainJson) return value
  switch (type.kind) {
    case "timestamptz":
      return momentText(value)
    case "bytea":
      return bytesText(value)
    case "array":
      return arrayJson(type, value, depth)
    case "composite": {
      const row = `"r${depth}"`
      const fields = type.fields.map((field) => ({
        name: field.name,
        sql: jsonValue(field.type, `(${value}).${quoteName(field.name)}`, depth + 1),
      }))
      // A row of nothing but NULLs IS NULL, and yet is no NULL.
      return (
        `CASE WHEN (${value}) IS NOT DISTINCT FROM NULL THEN NULL ` +
        `ELSE (SELECT row_to_json(${row}.*) FROM (${rowSelect(fields)}) AS ${row}) END`
      )
    }
    case "number":
      return `(${value})::pg_catalog.int8`
    default:
      return `(${value})::text`
  }
}

/**
 * An array element by element, in the order they lie, with as many brackets opened before one and closed after it as
 * dimensions begin and end there.
 */
const arrayJson = (type: ArrayType, value: string, depth: number): string => {
  if (type.element.kind === "timestamptz") return `replace(to_json(${value})::text, '+00:00', 'Z')::json`
  const element = `"e${depth}"`
  const dimensions = [1, 2, 3, 4, 5, 6]
  const size = (from: number) =>
    dimensions
      .slice(from - 1)
      .map((d) => `coalesce(array_length(${value}, ${d}), 1)`)
      .join(" * ")
  const ends = (at: string) =>
    dimensions.map((d) => `(array_ndims(${value}) >= ${d} AND ${at} % (${size(d)}) = 0)::int`).join(" + ")
  const text = `coalesce(to_json(${jsonValue(type.element, `${element}."v"`, depth + 1)})::text, 'null')`
  return (
    `CASE WHEN ${value} IS NULL THEN NULL ELSE coalesce((SELECT string_agg(` +
    `repeat('[', ${ends(`(${element}."n" - 1)`)}) || ${text} || repeat(']', ${ends(`${element}."n"`)}), ',' ` +
    `ORDER BY ${element}."n") FROM (SELECT unnest(${value}) AS "v", generate_series(1, cardinality(${value})) AS "n"` +
    `) AS ${element}), '[]')::json END`
  )
}

/** SQL of the value as text, as the API shows it: what `contains` and `q` look in. */
export const shownText = (type: ColumnType, value: string): string => {
  switch (type.kind) {
    case "timestamp":
      return `btrim(to_json(${value})::text, '"')`
    case "timestamptz":
      return momentText(value)
    case "bytea":
      return bytesText(value)
    case "array":
    case "composite":
      return type.plainJson ? `to_json(${value})::text` : `(${jsonValue(type, value)})::text`
    default:
      return `(${value})::text`
  }
}
