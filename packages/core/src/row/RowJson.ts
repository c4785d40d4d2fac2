/**
 * Writes SQL that makes the JSON of values, for what an adapter does not write itself, and the text to search: numbers keep every
 * digit, moments are RFC 3339 in UTC, bytes are base64, structures stay structures, and what has no form of its
 * own in JSON is its text. Relies on a session in UTC with ISO dates. Nothing here comes from a request, and no function,
 * operator or cast of a customer's is called.
 */
import type { ArrayType, ColumnType } from "./ColumnType.ts"
import { quoteName } from "./SqlName.ts"
import { call, castTo, operate, operateAll } from "./SystemSql.ts"

/** A key of an object and the SQL of its value. */
export interface JsonField {
  readonly name: string
  readonly sql: string
}

/** The row of these fields as a subquery, and its JSON: `row_to_json` names each key by its column. */
export const rowSelect = (fields: ReadonlyArray<JsonField>): string =>
  `SELECT ${fields.map(({ name, sql }) => `${sql} AS ${quoteName(name)}`).join(", ")}`

/** to_json writes `2026-01-02T03:04:05.6+00:00`, with ` BC` after it where it belongs, or `infinity`. */
const momentText = (value: string): string => call("replace", bareText(value), "'+00:00'", "'Z'")

/** The JSON without its quotes. */
const bareText = (value: string): string => call("btrim", jsonText(value), `'"'`)

/** What to_json writes of a value of PostgreSQL's own types. */
export const jsonText = (value: string): string => castTo(call("to_json", value), "text")

const bytesText = (value: string): string =>
  call("translate", call("encode", value, "'base64'"), call("chr", "10"), "''")

/**
 * What the type's output function writes. A cast to text does the same for PostgreSQL's own types, at less cost; for any
 * other it may be a function of the customer's, which `format` never calls. NULL stays NULL, and PostgreSQL reads the text
 * as the same value again.
 */
export const outputText = (type: Pick<ColumnType, "runsNoUserCode">, value: string): string =>
  type.runsNoUserCode
    ? castTo(value, "text")
    : `CASE WHEN (${value}) IS NOT DISTINCT FROM NULL THEN NULL ELSE ${call("format", "'%s'", value)} END`

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
 * An array element by element, in the order they lie, with as many brackets opened before one and closed after it as
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

/** SQL of the value as text, as the API shows it: what `contains` and `q` look in. */
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
      return type.plainJson ? jsonText(value) : castTo(jsonValue(type, value), "text")
    default:
      return outputText(type, value)
  }
}
