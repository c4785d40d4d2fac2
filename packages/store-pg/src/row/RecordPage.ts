/**
 * Reads a page as a single result row: concatenated records, and how many rows were found. Used for reads that may run a
 * customer's functions: their query runs exactly once, and a page's bytes are bounded before they are sent.
 *
 * Decision: docs/decisions/0032-reads-that-run-customer-code.md
 */
import { PAGE_BYTES } from "@data-cabinet/core/pagination/Page"
import type { ReadableColumn } from "@data-cabinet/core/row/Catalog"
import { type EncodedColumn, encodedColumn, encodedText, RecordToJson, rowsWithin } from "./RecordToJson.ts"
import { type FoundRows, MAX_ROW_BYTES, type PageQuery, shownColumn } from "@data-cabinet/core/row/RowReader"
import { call, castTo, operate } from "@data-cabinet/core/row/SystemSql"
import { RowPosition } from "./RowPosition.ts"
import type { RecordBytes } from "../connection/RawTypes.ts"

/** A result row from the driver: text, or the position of a record's bytes. */
export type ResultRow = ReadonlyArray<string | RecordBytes | null>

/** The alias of the page's query. */
const ROWS = `"t"`

export class RecordPage {
  /** The query; `read` decodes its single row. */
  readonly text: string
  readonly #query: PageQuery
  readonly #record: RecordToJson
  readonly #position: RowPosition

  constructor(query: PageQuery) {
    const { columns, record } = encoded(query.shown)
    this.#query = query
    this.#record = record
    this.#position = new RowPosition(ROWS, query.position, columns)
    this.text = summedPage({
      sql: query.text,
      values: [...record.values, ...this.#position.sent],
      keyBytes: record.keyBytes,
    })
  }

  read([row]: ReadonlyArray<ResultRow>): FoundRows {
    const [sent, count] = row ?? []
    if (typeof sent !== "object" || sent === null) throw new Error("Not the row of a page")
    const found = Number(count)
    const rows = this.#record.read(rowsWithin(sent))
    const items = rows.items.first(this.#query.limit)
    return {
      items,
      hasMore: found > items.length,
      positionOf: (item) => this.#position.of((index, form) => encodedText(rows, item, index, form)),
    }
  }
}

interface Encoded {
  readonly columns: ReadonlyArray<EncodedColumn>
  readonly record: RecordToJson
}

const encodedBefore = new WeakMap<ReadonlyArray<ReadableColumn>, Encoded>()

const encoded = (shown: ReadonlyArray<ReadableColumn>): Encoded => {
  const known = encodedBefore.get(shown)
  if (known !== undefined) return known
  const columns = shown.map(({ name, type }, index) => encodedColumn(name, type, `${ROWS}.${shownColumn(index)}`))
  const made = { columns, record: new RecordToJson(columns) }
  encodedBefore.set(shown, made)
  return made
}

/** A page's rows in order, and one more. */
interface PageRows {
  readonly sql: string
  /** The values sent for each row. */
  readonly values: ReadonlyArray<string>
  /** Bytes of a row's JSON that are not sent. */
  readonly keyBytes: number
}

const sentRows = ({ sql, values }: PageRows): string =>
  `(SELECT ${call("record_send", `ROW(${values.join(", ")})`)} AS "r" FROM (${sql}) AS ${ROWS} OFFSET 0) AS "q"`

const length = (value: string): string => call("octet_length", value)

/** Concatenates the rows that fit on a page, by the sum of their bytes, and counts all rows. */
const summedPage = (page: PageRows): string => {
  const fits = `(${operate(`"bytes"`, "<=", String(PAGE_BYTES))} OR ${operate(`"n"`, "=", "1")})`
  const bytes = call("sum", operate(length(`"q"."r"`), "+", String(page.keyBytes)))
  const holds = `${fits} AND ${operate(length(`"r"`), "<=", String(MAX_ROW_BYTES))}`
  return (
    `SELECT ROW(${call("string_agg", `"r"`, `''::pg_catalog.bytea`)} FILTER (WHERE ${holds})), ${castTo(call("count", "*"), "text")} ` +
    `FROM (SELECT "q".*, ${call("row_number")} OVER "w" AS "n", ${bytes} OVER "w" AS "bytes" ` +
    `FROM ${sentRows(page)} WINDOW "w" AS (ROWS UNBOUNDED PRECEDING)) AS "s"`
  )
}
