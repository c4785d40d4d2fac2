/**
 * The place of a row in a walk: the values of the order's terms, as texts that PostgreSQL reads as the same values. They are
 * read from what was sent of the row. What it does not show, or not so that it can be read back, is sent behind what it shows.
 */
import { outputText } from "../row/RowJson.ts"
import { type EncodedColumn, jsonEncoder, type RecordsToJson, encodedText } from "../row/RecordToJson.ts"
import * as Sent from "../row/ValueToJson.ts"
import { DATE, TIMESTAMP, TIMESTAMPTZ } from "../row/TimestampToJson.ts"
import { call } from "../row/SystemSql.ts"
import type { OrderTerm } from "./OrderSql.ts"

/** A value of a place that is longer as text cannot be carried in a cursor; its column is cut one character later. */
export const MAX_POSITION_VALUE = 4_000

/** Their values are short, whatever they are, and cost PostgreSQL more as texts. */
const SHORT: ReadonlySet<Sent.JsonEncoder> = new Set([
  Sent.BOOLEAN,
  Sent.INT16,
  Sent.INT32,
  Sent.INT64,
  Sent.OID,
  DATE,
  TIMESTAMP,
  TIMESTAMPTZ,
])

/** Their JSON says the value and nothing else. */
const READ_BACK: ReadonlySet<Sent.JsonEncoder> = new Set([...SHORT, Sent.NUMERIC, Sent.TEXT])

/** What a row shows: the SQL of a value, and what is sent of it. */
export interface ShownValue {
  readonly sql: string
  readonly sent: EncodedColumn
}

export class RowPosition {
  /** What is to be selected besides what is shown, with its names. */
  readonly selected: ReadonlyArray<string>
  /** What is to be sent behind what is shown. */
  readonly sent: ReadonlyArray<string>
  readonly #values: ReadonlyArray<{ readonly index: number; readonly form: Sent.JsonEncoder }>

  constructor(terms: ReadonlyArray<OrderTerm>, shown: ReadonlyArray<ShownValue>) {
    const selected: Array<string> = []
    const sent: Array<string> = []
    this.#values = terms.map(({ sql, type }) => {
      const index = shown.findIndex((value) => value.sql === sql && READ_BACK.has(value.sent.form))
      if (index >= 0) return { index, form: shown[index]!.sent.form }
      const name = `"p${selected.length}"`
      selected.push(`${sql} AS ${name}`)
      const form = jsonEncoder(type.sql)
      const isShort = form !== undefined && SHORT.has(form)
      const value = `"t".${name}`
      sent.push(isShort ? value : call("left", outputText(type, value), String(MAX_POSITION_VALUE + 1)))
      return { index: shown.length + sent.length - 1, form: isShort ? form : Sent.TEXT }
    })
    this.selected = selected
    this.sent = sent
  }

  of(rows: RecordsToJson, row: number): ReadonlyArray<string | null> {
    return this.#values.map(({ index, form }) => encodedText(rows, row, index, form))
  }
}
