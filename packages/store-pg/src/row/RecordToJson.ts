/**
 * Encodes rows as JSON from the output of `record_send`, which costs PostgreSQL half as much as building the JSON itself.
 * PostgreSQL converts values of types that are not listed below to JSON or text.
 */
import { AHEAD, BEHIND, COMMA, Items } from "@data-cabinet/core/pagination/Items"
import type { ColumnType } from "@data-cabinet/core/row/ColumnType"
import { JsonFragment, QUOTE } from "./JsonWriter.ts"
import { jsonText, jsonValue } from "@data-cabinet/core/row/RowJson"
import { DATE, TIMESTAMP, TIMESTAMPTZ } from "./TimestampToJson.ts"
import * as ValueToJson from "./ValueToJson.ts"
import { HEAD, type RecordBytes, VALUE_HEAD } from "../connection/RawTypes.ts"

/** How a value is sent, and how its JSON is written from that. */
interface SentType {
  readonly form: ValueToJson.JsonEncoder
  readonly oid: number
}

/** Keyed by the name that a type is cast to: the binary formats are known only for PostgreSQL's own types. */
const TYPES: ReadonlyMap<string, SentType> = new Map(
  Object.entries({
    bool: { form: ValueToJson.BOOLEAN, oid: 16 },
    int2: { form: ValueToJson.INT16, oid: 21 },
    int4: { form: ValueToJson.INT32, oid: 23 },
    int8: { form: ValueToJson.INT64, oid: 20 },
    oid: { form: ValueToJson.OID, oid: 26 },
    numeric: { form: ValueToJson.NUMERIC, oid: 1700 },
    text: { form: ValueToJson.TEXT, oid: 25 },
    varchar: { form: ValueToJson.TEXT, oid: 1043 },
    date: { form: DATE, oid: 1082 },
    timestamp: { form: TIMESTAMP, oid: 1114 },
    timestamptz: { form: TIMESTAMPTZ, oid: 1184 },
    json: { form: ValueToJson.JSON_TEXT, oid: 114 },
    jsonb: { form: ValueToJson.JSONB, oid: 3802 },
    bytea: { form: ValueToJson.BYTES, oid: 17 },
  }).map(([name, type]) => [`"pg_catalog"."${name}"`, type]),
)

/** The oid of text, in which values without their own form are sent. */
export const TEXT_OID = 25

/** How values of a type are sent; undefined if PostgreSQL converts them to JSON or text. `type` is the name of the cast. */
export const sentType = (type: string): SentType | undefined => TYPES.get(type)

/** A column of an encoded row: its JSON key, the SQL of the sent value, its type, and its encoder. */
export interface EncodedColumn {
  readonly name: string
  readonly sql: string
  readonly oid: number
  readonly form: ValueToJson.JsonEncoder
}

/** Creates a column of this type; `value` is the SQL of its value. */
export const encodedColumn = (name: string, type: ColumnType, value: string): EncodedColumn => {
  const sent = TYPES.get(type.sql)
  if (sent !== undefined) return { name, sql: value, ...sent }
  const sql = jsonValue(type, value)
  return type.plainJson || type.kind === "array" || type.kind === "composite"
    ? { name, sql: jsonText(sql), oid: TEXT_OID, form: ValueToJson.JSON_TEXT }
    : { name, sql, oid: TEXT_OID, form: ValueToJson.TEXT }
}

/** Room for the separators between rows. */
const SPARE = 2

const NULL = new JsonFragment("null")
/** The row of a table without columns. */
const NOTHING = new JsonFragment("{}")
const END = 0x7d // }

/** The JSON of encoded rows, and the positions of their values. */
export interface RecordsToJson {
  readonly items: Items
  readonly sent: DataView
  /** The start of each row. */
  readonly starts: ReadonlyArray<number>
}

export class RecordToJson {
  /** The SQL of each column's sent form. */
  readonly values: ReadonlyArray<string>
  /** How many bytes of a row's JSON are its keys. */
  readonly keyBytes: number
  readonly #columns: ReadonlyArray<{ readonly key: JsonFragment; readonly form: ValueToJson.JsonEncoder }>

  constructor(columns: ReadonlyArray<EncodedColumn>) {
    this.values = columns.map(({ sql }) => sql)
    this.#columns = columns.map(({ name, form }, index) => ({
      key: new JsonFragment(`${index === 0 ? "{" : ","}${JSON.stringify(name)}:`),
      form,
    }))
    this.keyBytes = this.#columns.reduce((sum, { key }) => sum + key.length, 1)
  }

  /** Encodes each row as JSON, and skips values sent after those of the row. */
  read({ bytes: read, start, end }: RecordBytes): RecordsToJson {
    const columns = this.#columns
    const sent = ValueToJson.viewOf(read)
    const starts: Array<number> = []
    const ends: Array<number> = []
    let bytes = Buffer.allocUnsafe(AHEAD + BEHIND + expected(end - start))
    let to = ValueToJson.viewOf(bytes)
    let at = AHEAD
    for (let next = start; next < end;) {
      if (ends.length > 0) to.setUint8(at++, COMMA)
      starts.push(next)
      const behind = sent.getInt32(next) - columns.length
      next += HEAD
      for (const { key, form } of columns) {
        const size = sent.getInt32(next + 4)
        next += VALUE_HEAD
        const longest =
          size < 0 || form.longest === null ? ValueToJson.MAX_SCALAR_BYTES(size) : form.longest(sent, next)
        const room = key.length + longest + SPARE
        if (to.byteLength - at < room) {
          bytes = longer(bytes, at, room)
          to = ValueToJson.viewOf(bytes)
        }
        at = key.write(to, at)
        if (size < 0) at = NULL.write(to, at)
        else {
          at = form.write(to, at, sent, next, size)
          next += size
        }
      }
      if (columns.length === 0) at = NOTHING.write(to, at)
      else to.setUint8(at++, END)
      ends.push(at)
      next = valueAt(sent, next, behind)
    }
    return { items: new Items(bytes, AHEAD, ends), sent, starts }
  }
}

/** The text of the value at `index` in a row: as sent, or its JSON without the quotes. Null for NULL. */
export const encodedText = (
  { sent, starts }: RecordsToJson,
  row: number,
  index: number,
  form: ValueToJson.JsonEncoder,
): string | null => {
  const head = valueAt(sent, starts[row]! + HEAD, index)
  return valueText(sent, head + VALUE_HEAD, sent.getInt32(head + 4), form)
}

/** The text of the value of this size: as sent, or its JSON without the quotes. Null for NULL, whose size is negative. */
export const valueText = (
  sent: DataView,
  start: number,
  size: number,
  form: ValueToJson.JsonEncoder,
): string | null => {
  if (size < 0) return null
  if (form === ValueToJson.TEXT) return Buffer.from(sent.buffer, sent.byteOffset + start, size).toString()
  const json = Buffer.allocUnsafe(
    form.longest === null ? ValueToJson.MAX_SCALAR_BYTES(size) : form.longest(sent, start),
  )
  const text = json.toString("utf8", 0, form.write(ValueToJson.viewOf(json), 0, sent, start, size))
  return json[0] === QUOTE ? text.slice(1, -1) : text
}

/** The position of the value `count` values after the one at `from`. */
const valueAt = (sent: DataView, from: number, count: number): number => {
  let at = from
  for (let passed = 0; passed < count; passed++) at += VALUE_HEAD + Math.max(0, sent.getInt32(at + 4))
  return at
}

/**
 * The rows in the single value of a record, which may be NULL: the binary format of `ROW(string_agg(record_send(…),
 * ''))`.
 */
export const rowsWithin = ({ bytes, start, end }: RecordBytes): RecordBytes => ({
  bytes,
  start: start + HEAD + VALUE_HEAD,
  end,
})

/** A value's key takes about as many bytes as its header. */
const expected = (sent: number): number => sent + (sent >> 3)

const longer = (bytes: Buffer, used: number, more: number): Buffer<ArrayBuffer> => {
  const next = Buffer.allocUnsafe(Math.max(bytes.length * 2, used + more))
  bytes.copy(next, 0, 0, used)
  return next
}
