/**
 * How rows come from PostgreSQL: as what `record_send` makes of them. That costs PostgreSQL half of what their JSON would;
 * the JSON is written here, byte by byte. A value of a type that is not among those below is made JSON, or text, by
 * PostgreSQL itself.
 */
import { AHEAD, BEHIND, COMMA, Items } from "@data-cabinet/core/pagination/Items"
import type { ColumnType } from "@data-cabinet/core/row/ColumnType"
import { JsonFragment, QUOTE } from "./JsonWriter.ts"
import { jsonText, jsonValue } from "@data-cabinet/core/row/RowJson"
import { HEAD, type RecordBytes, VALUE_HEAD } from "./RecordBytes.ts"
import { DATE, TIMESTAMP, TIMESTAMPTZ } from "./TimestampToJson.ts"
import * as ValueToJson from "./ValueToJson.ts"

/** By the name that a type is cast to: only PostgreSQL's own are known by how they are sent. */
const FORMS: ReadonlyMap<string, ValueToJson.JsonEncoder> = new Map(
  Object.entries({
    bool: ValueToJson.BOOLEAN,
    int2: ValueToJson.INT16,
    int4: ValueToJson.INT32,
    int8: ValueToJson.INT64,
    oid: ValueToJson.OID,
    numeric: ValueToJson.NUMERIC,
    text: ValueToJson.TEXT,
    varchar: ValueToJson.TEXT,
    bpchar: ValueToJson.TEXT,
    date: DATE,
    timestamp: TIMESTAMP,
    timestamptz: TIMESTAMPTZ,
    json: ValueToJson.JSON_TEXT,
    jsonb: ValueToJson.JSONB,
    bytea: ValueToJson.BYTES,
  }).map(([name, form]) => [`"pg_catalog"."${name}"`, form]),
)

/** How values of a type are sent, by the name that it is cast to; undefined for one that is made JSON or text by PostgreSQL. */
export const jsonEncoder = (type: string): ValueToJson.JsonEncoder | undefined => FORMS.get(type)

/** A column of a row that is sent: its key in the JSON, the SQL of what is sent of it, and how that is written. */
export interface EncodedColumn {
  readonly name: string
  readonly sql: string
  readonly form: ValueToJson.JsonEncoder
}

/** The column of this type whose value is `value` in SQL. */
export const encodedColumn = (name: string, type: ColumnType, value: string): EncodedColumn => {
  const form = FORMS.get(type.sql)
  if (form !== undefined) return { name, sql: value, form }
  const sql = jsonValue(type, value)
  return type.plainJson || type.kind === "array" || type.kind === "composite"
    ? { name, sql: jsonText(sql), form: ValueToJson.JSON_TEXT }
    : { name, sql, form: ValueToJson.TEXT }
}

/** Room for the signs between rows. */
const SPARE = 2

const NULL = new JsonFragment("null")
/** The row of a table without columns. */
const NOTHING = new JsonFragment("{}")
const END = 0x7d // }

/** Rows that were sent: the JSON of each, and where their values lie. */
export interface RecordsToJson {
  readonly items: Items
  readonly sent: DataView
  /** Where each row begins. */
  readonly starts: ReadonlyArray<number>
}

export class RecordToJson {
  /** What is sent of each column, as SQL. */
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

  /** Each row as JSON. What is sent behind a row's values is passed over. */
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

/** The text of the value that stands at `index` in a row: as it is, or its JSON without the quotes. Null for NULL. */
export const encodedText = (
  { sent, starts }: RecordsToJson,
  row: number,
  index: number,
  form: ValueToJson.JsonEncoder,
): string | null => {
  const head = valueAt(sent, starts[row]! + HEAD, index)
  const size = sent.getInt32(head + 4)
  if (size < 0) return null
  const start = head + VALUE_HEAD
  if (form === ValueToJson.TEXT) return Buffer.from(sent.buffer, sent.byteOffset + start, size).toString()
  const json = Buffer.allocUnsafe(
    form.longest === null ? ValueToJson.MAX_SCALAR_BYTES(size) : form.longest(sent, start),
  )
  const text = json.toString("utf8", 0, form.write(ValueToJson.viewOf(json), 0, sent, start, size))
  return json[0] === QUOTE ? text.slice(1, -1) : text
}

/** Where the value lies that comes so many behind the one at `from`. */
const valueAt = (sent: DataView, from: number, count: number): number => {
  let at = from
  for (let passed = 0; passed < count; passed++) at += VALUE_HEAD + Math.max(0, sent.getInt32(at + 4))
  return at
}

/** The rows in the one value of a record, which may be NULL: what `ROW(string_agg(record_send(…), ''))` is sent as. */
export const rowsWithin = ({ bytes, start, end }: RecordBytes): RecordBytes => ({
  bytes,
  start: start + HEAD + VALUE_HEAD,
  end,
})

/** A value's key takes about as much as what is sent before it. */
const expected = (sent: number): number => sent + (sent >> 3)

const longer = (bytes: Buffer, used: number, more: number): Buffer<ArrayBuffer> => {
  const next = Buffer.allocUnsafe(Math.max(bytes.length * 2, used + more))
  bytes.copy(next, 0, 0, used)
  return next
}
