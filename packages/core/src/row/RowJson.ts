/**
 * Generates SQL that converts values to JSON, for types that an adapter does not write itself, and to the text that
 * searches look in: numbers keep every digit, timestamps are RFC 3339 in UTC, bytes are base64, structures stay
 * structures, and a value without a JSON form becomes text. Requires a session in UTC with ISO dates. Nothing here
 * comes from a request, and no function, operator or cast of a customer is called.
 */
import type { ArrayType, ColumnType } from "./ColumnType.ts"
import { quoteName } from "./SqlName.ts"
import { call, castTo, operate, operateAll } from "./SystemSql.ts"

/** A key of an object and the SQL of its value. */
export interface JsonField {
  readonly name: string
  readonly sql: string
}

/** A subquery that selects these fields as a row; `row_to_json` takes each key from the name of its column. */
export const rowSelect = (fields: ReadonlyArray<JsonField>): string =>
  `SELECT ${fields.map(({ name, sql }) => `${sql} AS ${quoteName(name)}`).join(", ")}`

/** to_json writes `2026-01-02T03:04:05.6+00:00`, with ` BC` appended if applicable, or `infinity`. */
const momentText = (value: string): string => call("replace", bareText(value), "'+00:00'", "'Z'")

/** The JSON string without its quotes. */
const bareText = (value: string): string => call("btrim", jsonText(value), `'"'`)

/** The output of to_json for a value of PostgreSQL's own types. */
export const jsonText = (value: string): string => castTo(call("to_json", value), "text")

const bytesText = (value: string): string =>
  call("translate", call("encode", value, "'base64'"), call("chr", "10"), "''")

/** `character(n)`: its output function pads values with spaces up to n; they are shown and compared without padding. */
export const isPadded = (type: Pick<ColumnType, "sql">): boolean => type.sql === `"pg_catalog"."bpchar"`

const isBoolean = (type: Pick<ColumnType, "sql">): boolean => type.sql === `"pg_catalog"."bool"`

/** A cast to text adds `/32` to a single address, its output function does not. */
const isAddress = (type: Pick<ColumnType, "sql">): boolean => type.sql === `"pg_catalog"."inet"`

type TextType = Pick<ColumnType, "runsNoUserCode" | "sql">

const formatted = (value: string): string =>
  `CASE WHEN (${value}) IS NOT DISTINCT FROM NULL THEN NULL ELSE ${call("format", "'%s'", value)} END`

/**
 * A text that PostgreSQL reads as the same value; NULL stays NULL. For PostgreSQL's own types a cast to text costs the least,
 * for domains over them as well: no cast of a domain is ever a customer's. For any other type it may be, and `format` never
 * calls it.
 */
export const readableText = (type: TextType, value: string): string =>
  type.runsNoUserCode || isPadded(type) || isBoolean(type) ? castTo(value, "text") : formatted(value)

/** The text of a value as it is shown: what the type's output function writes, without padding, and `true` or `false`. */
export const outputText = (type: TextType, value: string): string =>
  isAddress(type) ? formatted(value) : readableText(type, value)

/** SQL whose result type makes to_json write the value in our format; NULL stays NULL. */
export const jsonValue = (type: ColumnType, value: string, depth = 0): string => {
  if (type.plainJson) return value
  switch (type.kind) {
    case "timestamptz":
      return momentText(value)
    case "bytea":
      return bytesText(value)
    case "array":
      return isPadded(type.element) ? castTo(value, "text[]") : arrayJson(type, value, depth)
    case "composite": {
      const row = `"r${depth}"`
      const fields = type.fields.map((field) => ({
        name: field.name,
        sql: jsonValue(field.type, `(${value}).${quoteName(field.name)}`, depth + 1),
      }))
      // A row whose values are all NULL satisfies IS NULL, and yet is not NULL.
      return (
        `CASE WHEN (${value}) IS NOT DISTINCT FROM NULL THEN NULL ` +
        `ELSE (SELECT ${call("row_to_json", `${row}.*`)} FROM (${rowSelect(fields)}) AS ${row}) END`
      )
    }
    case "number":
      return `(${value})::pg_catalog.int8`
    default:
      return outputText(type, value)
  }
}

const DIMENSIONS = [1, 2, 3, 4, 5, 6] as const

/**
 * Writes an array element by element, in storage order. Before and after each element, it writes as many brackets as
 * dimensions begin and end there.
 */
const arrayJson = (type: ArrayType, value: string, depth: number): string => {
  if (type.element.kind === "timestamptz") {
    return castTo(call("replace", jsonText(value), "'+00:00'", "'Z'"), "json")
  }
  const element = `"e${depth}"`
  const sizes = DIMENSIONS.map((d) => `coalesce(${call("array_length", value, String(d))}, 1)`)
  const size = (from: number) => operateAll("*", sizes.slice(from - 1) as [string])
  const endsAt = (d: number, at: string) => {
    const ends = operate(operate(at, "%", size(d)), "=", "0")
    return castTo(`${operate(call("array_ndims", value), ">=", String(d))} AND ${ends}`, "int4")
  }
  const ends = (at: string) => {
    const [first, ...rest] = DIMENSIONS.map((d) => endsAt(d, at))
    return operateAll("+", [first!, ...rest])
  }
  const number = `${element}."n"`
  const text = `coalesce(${jsonText(jsonValue(type.element, `${element}."v"`, depth + 1))}, 'null')`
  const bracketed = operateAll("||", [
    call("repeat", "'['", ends(operate(number, "-", "1"))),
    text,
    call("repeat", "']'", ends(number)),
  ])
  const numbers = call("generate_series", "1", call("cardinality", value))
  return (
    `CASE WHEN (${value}) IS NOT DISTINCT FROM NULL THEN NULL ELSE ` +
    castTo(
      `coalesce((SELECT ${call("string_agg", bracketed, `',' ORDER BY ${number}`)} ` +
        `FROM (SELECT ${call("unnest", value)} AS "v", ${numbers} AS "n") AS ${element}), '[]')`,
      "json",
    ) +
    ` END`
  )
}

/** SQL of the value as text, as the API shows it: the text that `contains` and `q` search. */
export const shownText = (type: ColumnType, value: string): string => {
  switch (type.kind) {
    case "timestamp":
      return bareText(value)
    case "timestamptz":
      return momentText(value)
    case "bytea":
      return bytesText(value)
    case "array":
    case "composite":
      return jsonText(jsonValue(type, value))
    default:
      return outputText(type, value)
  }
}
