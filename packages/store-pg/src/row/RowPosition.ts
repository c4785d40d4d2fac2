/**
 * The position of a row in a walk: the values of the order's terms, as texts that PostgreSQL reads as the same values. They
 * are read from what was sent of the row. What it does not show, or not so that it can be read back, is sent behind what it
 * shows.
 */
import { outputText } from "@data-cabinet/core/row/RowJson"
import { type EncodedColumn, encodedText, jsonEncoder, type RecordsToJson } from "./RecordToJson.ts"
import { MAX_POSITION_VALUE, type PositionColumn } from "@data-cabinet/core/row/RowReader"
import * as ValueToJson from "./ValueToJson.ts"
import { DATE, TIMESTAMP, TIMESTAMPTZ } from "./TimestampToJson.ts"
import { call } from "@data-cabinet/core/row/SystemSql"

/** Their values are short, whatever they are, and cost PostgreSQL more as texts. */
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

/** Their JSON says the value and nothing else. */
const READ_BACK: ReadonlySet<ValueToJson.JsonEncoder> = new Set([...SHORT, ValueToJson.NUMERIC, ValueToJson.TEXT])

export class RowPosition {
  /** What is to be sent behind what is shown, as SQL. */
  readonly sent: ReadonlyArray<string>
  readonly #values: ReadonlyArray<{ readonly index: number; readonly form: ValueToJson.JsonEncoder }>

  /** `rows` is the alias of the query whose columns they are. */
  constructor(rows: string, columns: ReadonlyArray<PositionColumn>, shown: ReadonlyArray<EncodedColumn>) {
    const sent: Array<string> = []
    this.#values = columns.map(({ name, shown: index, type }) => {
      const encoded = index === null ? undefined : shown[index]
      if (index !== null && encoded !== undefined && READ_BACK.has(encoded.form)) return { index, form: encoded.form }
      const form = jsonEncoder(type.sql)
      const isShort = form !== undefined && SHORT.has(form)
      const value = `${rows}.${name}`
      sent.push(isShort ? value : call("left", outputText(type, value), String(MAX_POSITION_VALUE + 1)))
      return { index: shown.length + sent.length - 1, form: isShort ? form : ValueToJson.TEXT }
    })
    this.sent = sent
  }

  of(rows: RecordsToJson, row: number): ReadonlyArray<string | null> {
    return this.#values.map(({ index, form }) => encodedText(rows, row, index, form))
  }
}
