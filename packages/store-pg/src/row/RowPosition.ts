/**
 * The position of a row in a scan: the values of the order's terms, as texts that PostgreSQL parses back to the same
 * values. They are taken from the values sent for the row. A value that the row does not show, or not in a form that can
 * be parsed back, is sent after those it shows.
 */
import { outputText } from "@data-cabinet/core/row/RowJson"
import { type EncodedColumn, sentType, TEXT_OID } from "./RecordToJson.ts"
import { MAX_POSITION_VALUE_LENGTH, type PositionColumn } from "@data-cabinet/core/row/RowReader"
import * as ValueToJson from "./ValueToJson.ts"
import { DATE, TIMESTAMP, TIMESTAMPTZ } from "./TimestampToJson.ts"
import { call } from "@data-cabinet/core/row/SystemSql"

/** Their values are always short, and cost PostgreSQL more as texts. */
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

/** Their JSON contains exactly the value. */
const READ_BACK: ReadonlySet<ValueToJson.JsonEncoder> = new Set([...SHORT, ValueToJson.NUMERIC, ValueToJson.TEXT])

export class RowPosition {
  /** The columns transferred after the shown values, as SQL. */
  readonly sent: ReadonlyArray<string>
  /** The types of the transferred columns, by oid. */
  readonly types: ReadonlyArray<number>
  readonly #values: ReadonlyArray<{ readonly index: number; readonly form: ValueToJson.JsonEncoder }>

  /** `rows` is the alias of the query that has these columns. */
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
        short === undefined ? call("left", outputText(type, value), String(MAX_POSITION_VALUE_LENGTH + 1)) : value,
      )
      types.push(short?.oid ?? TEXT_OID)
      return { index: shown.length + sent.length - 1, form: short?.form ?? ValueToJson.TEXT }
    })
    this.sent = sent
    this.types = types
  }

  /** `textOf` returns the text of a transferred column's value, by its encoder. */
  of(textOf: (index: number, form: ValueToJson.JsonEncoder) => string | null): ReadonlyArray<string | null> {
    return this.#values.map(({ index, form }) => textOf(index, form))
  }
}
