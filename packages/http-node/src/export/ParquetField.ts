/** How a column's values are held and declared in a Parquet file. A decimal is exact, or not a decimal. */
import { shownText } from "@data-cabinet/core/row/CellTokens"
import type { DecimalDigits, ExportShape } from "@data-cabinet/core/export/ExportFormat"
import { selectionError } from "@data-cabinet/core/selection/SelectionParams"
import type { ParquetWriter as Writer } from "hyparquet-writer"
import type { Held, Stored } from "./ParquetColumn.ts"

/** An element of the schema, as the library declares it. */
export type SchemaElement = ConstructorParameters<typeof Writer>[0]["schema"][number]

/** The most digits that readers of decimals accept. */
const MAX_DECIMAL_DIGITS = 38

/** How the values of a column are written. */
export interface Field {
  readonly element: Omit<SchemaElement, "name">
  readonly held: Held
  /** Called with tokens other than NULL's. Undefined if the column's type cannot hold the value. */
  readonly value: (token: string) => Stored | undefined
  /** The column's type, in words. */
  readonly holds: string
}

const TEXT: Field = {
  element: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  held: "texts",
  value: shownText,
  holds: "text",
}

const JSON_TEXT: Field = {
  element: { type: "BYTE_ARRAY", logical_type: { type: "JSON" } },
  held: "texts",
  value: (token) => token,
  holds: "JSON",
}

const whole = (type: "INT32" | "INT64"): Field => ({
  element: { type },
  held: type === "INT32" ? "numbers" : "integers",
  value: type === "INT32" ? Number : BigInt,
  holds: "integers",
})

const floating = (type: "FLOAT" | "DOUBLE"): Field => ({
  element: { type },
  held: "numbers",
  // A value that is not a number (`NaN`, `Infinity`) comes as text with its name.
  value: (token) => Number(token[0] === '"' ? shownText(token) : token),
  holds: "floating-point numbers",
})

const DAY_MILLIS = 86_400_000
const TIME = /^(\d{4,6}-\d\d-\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?Z?)?$/

/** Years of more than four digits have a sign in JavaScript. */
const dayMillis = (day: string): number =>
  Date.parse(`${day.length > 10 ? `+${day.padStart(12, "0")}` : day}T00:00:00Z`)

const DATE: Field = {
  element: { type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } },
  held: "numbers",
  value: (token) => {
    const day = TIME.exec(shownText(token))?.[1]
    const millis = day === undefined ? Number.NaN : dayMillis(day)
    return Number.isNaN(millis) ? undefined : millis / DAY_MILLIS
  },
  holds: "days after Christ and before the end of time",
}

const timestamp = (isAdjustedToUTC: boolean): Field => ({
  element: { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC, unit: "MICROS" } },
  held: "integers",
  value: (token) => {
    const [, day, hour, minute, second, fraction = ""] = TIME.exec(shownText(token)) ?? []
    if (day === undefined || hour === undefined) return undefined
    const millis = dayMillis(day)
    if (Number.isNaN(millis)) return undefined
    const seconds = BigInt(millis / 1000) + BigInt(Number(hour) * 3600 + Number(minute) * 60 + Number(second))
    return seconds * 1_000_000n + BigInt(fraction.padEnd(6, "0"))
  },
  holds: "times after Christ and before the end of time",
})

const FIELDS: Readonly<Record<string, Field>> = {
  smallint: whole("INT32"),
  integer: whole("INT32"),
  bigint: whole("INT64"),
  oid: whole("INT64"),
  real: floating("FLOAT"),
  "double precision": floating("DOUBLE"),
  boolean: { element: { type: "BOOLEAN" }, held: "booleans", value: (token) => token === "true", holds: "booleans" },
  date: DATE,
  "timestamp with time zone": timestamp(true),
  "timestamp without time zone": timestamp(false),
  json: JSON_TEXT,
  jsonb: JSON_TEXT,
  bytea: {
    element: { type: "BYTE_ARRAY" },
    held: "values",
    value: (token) => Buffer.from(shownText(token), "base64"),
    holds: "bytes",
  },
}

/**
 * `-12.50` with a scale of 3 is -12500; undefined if its fraction has nonzero digits beyond the scale, or it has too
 * many digits.
 */
const unscaled = (token: string, { precision, scale }: DecimalDigits): bigint | undefined => {
  const [, sign, before, after = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,6}))?$/.exec(token) ?? []
  if (before === undefined) return undefined
  const shift = scale - after.length + Number(power)
  const digits = (before + after).replace(/^0+/, "")
  const kept = shift >= 0 ? digits + "0".repeat(Math.min(shift, MAX_DECIMAL_DIGITS + 1)) : digits.slice(0, shift)
  if (shift < 0 && /[1-9]/.test(digits.slice(shift))) return undefined
  if (digits !== "" && kept.length > precision) return undefined
  const value = BigInt(digits === "" || kept === "" ? "0" : kept)
  return sign === "-" ? -value : value
}

const decimal = (digits: DecimalDigits): Field => {
  const { precision, scale } = digits
  const isShort = precision <= 18
  const length = Math.ceil((precision * Math.log2(10) + 1) / 8)
  return {
    element: {
      type: isShort ? "INT64" : "FIXED_LEN_BYTE_ARRAY",
      ...(isShort ? {} : { type_length: length }),
      converted_type: "DECIMAL",
      logical_type: { type: "DECIMAL", precision, scale },
      precision,
      scale,
    },
    held: isShort ? "integers" : "values",
    value: (token) => unscaled(token, digits),
    holds: `numbers of ${precision} digits, ${scale} of them after the point`,
  }
}

/** Null if Parquet has no such decimals. */
export const decimalDigits = (precision: number, scale: number): DecimalDigits | null =>
  precision >= 1 && precision <= MAX_DECIMAL_DIGITS && scale >= 0 && scale <= precision ? { precision, scale } : null

/** The field of a column: as requested, else by its declared digits, else by its type. */
export const fieldOf = (name: string, type: string, declared: DecimalDigits | null, shape: ExportShape): Field => {
  const given = shape.decimals?.[name]
  if (given !== undefined) return decimal(given)
  if (shape.texts?.includes(name) === true) return TEXT
  const digits = declared === null ? null : decimalDigits(declared.precision, declared.scale)
  if (digits !== null) return decimal(digits)
  return FIELDS[type] ?? (type.endsWith("[]") ? JSON_TEXT : TEXT)
}

/** Throws if decimals or texts are requested of a column that the export does not have. */
export const refuseUnknown = (
  columns: ReadonlyArray<{ readonly name: string }>,
  { decimals = {}, texts = [] }: ExportShape,
) => {
  for (const [param, names] of [
    ["decimal", Object.keys(decimals)],
    ["text", texts],
  ] as const) {
    const unknown = names.find((name) => columns.every((column) => column.name !== name))
    if (unknown === undefined) continue
    throw selectionError("unknown_column", param, `The export has no column ${JSON.stringify(unknown)}.`)
  }
}
