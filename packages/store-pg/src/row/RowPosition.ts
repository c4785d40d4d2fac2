/**
 * The position of a row in a scan: the values of the terms of the order, as texts that PostgreSQL parses back to the same
 * values. They come from the values sent for the row. A value that the row does not show, or shows in a form that cannot
 * be parsed back, is sent in addition.
 */
import { readableText } from "@data-cabinet/core/row/RowJson"
import { type EncodedColumn, sentType, TEXT_OID } from "./RecordToJson.ts"
import { MAX_POSITION_VALUE_LENGTH, type PositionColumn } from "@data-cabinet/core/row/RowReader"
import * as ValueToJson from "./ValueToJson.ts"
import { DATE, TIMESTAMP, TIMESTAMPTZ } from "./TimestampToJson.ts"
import { call } from "@data-cabinet/core/row/SystemSql"

/** Encoders of values that are always short, and that PostgreSQL would take longer to send as text. */
const SHORT: ReadonlySet<ValueToJson.JsonEncoder> = new Set([
  ValueToJson.BOOLEAN,
  ValueToJson.INT16,
  ValueToJson.INT32,
  ValueToJson.INT64,
  ValueToJson.OID,
  DATE,
  TIMESTAMP,
  TIMESTAMPTZ,
])

/** Encoders whose JSON contains exactly the value. */
const READ_BACK: ReadonlySet<ValueToJson.JsonEncoder> = new Set([...SHORT, ValueToJson.NUMERIC, ValueToJson.TEXT])

export class RowPosition {
  /** The SQL of the values sent after the shown ones. */
  readonly sent: ReadonlyArray<string>
  /** The types of these values, by oid. */
  readonly types: ReadonlyArray<number>
  readonly #values: ReadonlyArray<{ readonly index: number; readonly form: ValueToJson.JsonEncoder }>

  /** `rows` is the alias of the query with these columns. */
  constructor(rows: string, columns: ReadonlyArray<PositionColumn>, shown: ReadonlyArray<EncodedColumn>) {
    const sent: Array<string> = []
    const types: Array<number> = []
    this.#values = columns.map(({ name, shown: index, type }) => {
      const encoded = index === null ? undefined : shown[index]
      if (index !== null && encoded !== undefined && READ_BACK.has(encoded.form)) return { index, form: encoded.form }
      const known = sentType(type.sql)
      const short = known !== undefined && SHORT.has(known.form) ? known : undefined
      const value = `${rows}.${name}`
      sent.push(
        short === undefined ? call("left", readableText(type, value), String(MAX_POSITION_VALUE_LENGTH + 1)) : value,
      )
      types.push(short?.oid ?? TEXT_OID)
      return { index: shown.length + sent.length - 1, form: short?.form ?? ValueToJson.TEXT }
    })
    this.sent = sent
    this.types = types
  }

  /** `textOf` returns the text of a sent value, decoded by its encoder. */
  of(textOf: (index: number, form: ValueToJson.JsonEncoder) => string | null): ReadonlyArray<string | null> {
    return this.#values.map(({ index, form }) => textOf(index, form))
  }
}
