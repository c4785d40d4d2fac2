/**
 * Rows as Parquet, a group of rows after another. Nothing is rounded: a number without a declared scale is text, unless the
 * caller says how many digits it has; what a column's type cannot hold ends the export, with words about where it is.
 */
import { cellTokens, shownText } from "@data-cabinet/core/export/CellTokens"
import type { DecimalDigits, ExportShape, RowEncoder } from "@data-cabinet/core/export/ExportFormat"
import { selectionError } from "@data-cabinet/core/selection/SelectionParams"
import type { ParquetWriter as Writer } from "hyparquet-writer"

type SchemaElement = ConstructorParameters<typeof Writer>[0]["schema"][number]

/** The text of as many bytes is held until its group is written. */
const GROUP_CHARS = 3 * 1024 * 1024

/** The most digits that readers of decimals take. */
const MAX_DECIMAL_DIGITS = 38

/** A value as it is written; undefined if the column's type cannot hold it. */
type Stored = string | number | bigint | boolean | Uint8Array | undefined

interface Field {
  readonly element: Omit<SchemaElement, "name">
  /** The token is not that of NULL. */
  readonly value: (token: string) => Stored
  /** What the column holds, in words. */
  readonly holds: string
}

const TEXT: Field = {
  element: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  value: shownText,
  holds: "text",
}

const JSON_TEXT: Field = {
  element: { type: "BYTE_ARRAY", logical_type: { type: "JSON" } },
  value: (token) => token,
  holds: "JSON",
}

const whole = (type: "INT32" | "INT64"): Field => ({
  element: { type },
  value: type === "INT32" ? Number : BigInt,
  holds: "integers",
})

const floating = (type: "FLOAT" | "DOUBLE"): Field => ({
  element: { type },
  // What is no number is a text of its name.
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
  value: (token) => {
    const day = TIME.exec(shownText(token))?.[1]
    const millis = day === undefined ? Number.NaN : dayMillis(day)
    return Number.isNaN(millis) ? undefined : millis / DAY_MILLIS
  },
  holds: "days after Christ and before the end of time",
}

const timestamp = (isAdjustedToUTC: boolean): Field => ({
  element: { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC, unit: "MICROS" } },
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
  boolean: { element: { type: "BOOLEAN" }, value: (token) => token === "true", holds: "booleans" },
  date: DATE,
  "timestamp with time zone": timestamp(true),
  "timestamp without time zone": timestamp(false),
  json: JSON_TEXT,
  jsonb: JSON_TEXT,
  bytea: { element: { type: "BYTE_ARRAY" }, value: (token) => Buffer.from(shownText(token), "base64"), holds: "bytes" },
}

/** `-12.50` with a scale of 3 is -12500; undefined if it has other digits behind the point, or too many. */
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
    value: (token) => unscaled(token, digits),
    holds: `numbers of ${precision} digits, ${scale} of them behind the point`,
  }
}

/** Null if Parquet has no such decimals. */
export const decimalDigits = (precision: number, scale: number): DecimalDigits | null =>
  precision >= 1 && precision <= MAX_DECIMAL_DIGITS && scale >= 0 && scale <= precision ? { precision, scale } : null

const fieldOf = (name: string, type: string, declared: DecimalDigits | null, shape: ExportShape): Field => {
  const given = shape.decimals?.[name]
  if (given !== undefined) return decimal(given)
  if (shape.texts?.includes(name) === true) return TEXT
  const digits = declared === null ? null : decimalDigits(declared.precision, declared.scale)
  if (digits !== null) return decimal(digits)
  return FIELDS[type] ?? (type.endsWith("[]") ? JSON_TEXT : TEXT)
}

const refuseUnknown = (
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

export const encodeParquet = (shape: ExportShape): RowEncoder =>
  async function* ({ columns, declared, batches, metadata }) {
    // Loaded by those who export Parquet.
    const { ByteWriter, ParquetWriter } = await import("hyparquet-writer")
    refuseUnknown(columns, shape)
    const fields = columns.map(({ name, type }, index) => fieldOf(name, type, declared[index] ?? null, shape))
    const schema: Array<SchemaElement> = [
      { name: "rows", num_children: columns.length },
      ...fields.map(({ element }, index): SchemaElement => ({
        name: columns[index]!.name,
        repetition_type: "OPTIONAL",
        ...element,
      })),
    ]
    const bytes = new ByteWriter()
    const writer = new ParquetWriter({ writer: bytes, schema, createdBy: "data-cabinet" })
    const taken = (): Uint8Array => {
      const piece = Buffer.from(bytes.getBytes())
      bytes.index = 0
      return piece
    }
    let values: Array<Array<Stored | null>> = columns.map(() => [])
    let chars = 0
    let number = 0
    const group = (): Uint8Array => {
      const columnData = columns.map(({ name }, index) => ({ name, data: values[index]! }))
      void writer.write({ columnData, rowGroupSize: Math.max(1, values[0]?.length ?? 0) })
      values = columns.map(() => [])
      chars = 0
      return taken()
    }
    const take = (item: string): void => {
      number++
      chars += item.length
      for (const [index, token] of cellTokens(item).entries()) {
        const { value, holds } = fields[index]!
        const stored = token === "null" ? null : value(token)
        if (stored === undefined) {
          const name = columns[index]!.name
          throw selectionError(
            "bad_selection",
            shape.decimals?.[name] === undefined ? "text" : "decimal",
            `Row ${number} has ${token.slice(0, 100)} in column ${JSON.stringify(name)}, which is exported as ${holds}: export it as text.`,
          )
        }
        values[index]!.push(stored)
      }
    }
    for await (const items of batches) {
      for (const item of items.texts()) take(item)
      if (chars >= GROUP_CHARS) yield group()
    }
    if (chars > 0) yield group()
    // Older readers know JSON by this alone. Said before, the writer would parse the values, and lose digits.
    writer.schema = schema.map((element) =>
      element.logical_type?.type === "JSON" ? { ...element, converted_type: "JSON" } : element,
    )
    if (metadata !== undefined) {
      writer.kvMetadata = Object.entries(metadata()).map(([key, value]) => ({ key, value }))
    }
    void writer.finish()
    yield taken()
  }
