/**
 * A page as one row of PostgreSQL's: its rows as records, put together, and how many were found. One message with a whole
 * page costs half of one message a row, and a page's bytes are bounded before they are put together.
 */
import { PAGE_BYTES } from "@data-cabinet/core/pagination/Page"
import type { ReadableColumn, ReadableTable } from "@data-cabinet/core/row/Catalog"
import type { RecordBytes } from "./RecordBytes.ts"
import { type EncodedColumn, encodedColumn, RecordToJson, rowsWithin } from "./RecordToJson.ts"
import { type FoundRows, MAX_ROW_BYTES, type PageQuery, shownColumn } from "@data-cabinet/core/row/RowReader"
import { call, castTo, operate } from "@data-cabinet/core/row/SystemSql"
import { RowPosition } from "./RowPosition.ts"

/** A result row as the driver returns it: text, or where the bytes of a record lie. */
export type ResultRow = ReadonlyArray<string | RecordBytes | null>

/** The alias of the page's query. */
const ROWS = `"t"`

/** Tables of which rows were found that are too long for a page whose bytes are not added up. */
const longRows = new WeakSet<ReadableTable>()

export class RecordPage {
  /** Returns one row, which `read` takes. */
  readonly text: string
  readonly #query: PageQuery
  readonly #record: RecordToJson
  readonly #position: RowPosition
  readonly #isFixedBudget: boolean

  constructor(query: PageQuery) {
    const { columns, record } = encoded(query.shown)
    this.#query = query
    this.#record = record
    this.#position = new RowPosition(ROWS, query.position, columns)
    const rows = {
      sql: query.text,
      values: [...record.values, ...this.#position.sent],
      keyBytes: record.keyBytes,
      limit: query.limit,
    }
    // A fixed budget may turn out too small, and the query of a view may cost too much to run it twice.
    const mayReadTwice = query.table.identity !== "text" && !longRows.has(query.table)
    const fixedBudget = mayReadTwice ? fixedBudgetPage(rows) : undefined
    this.#isFixedBudget = fixedBudget !== undefined
    this.text = fixedBudget ?? summedPage(rows)
  }

  /** Null where there are rows longer than the statement could bear: a page made of the same query from then on can. */
  read([row]: ReadonlyArray<ResultRow>): FoundRows | null {
    const [sent, count] = row ?? []
    if (typeof sent !== "object" || sent === null) throw new Error("Not the row of a page")
    const found = Number(count)
    const rows = this.#record.read(rowsWithin(sent))
    if (this.#isFixedBudget && rows.items.length < found) {
      longRows.add(this.#query.table)
      return null
    }
    const items = rows.items.first(this.#query.limit)
    return { items, hasMore: found > items.length, positionOf: (item) => this.#position.of(rows, item) }
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

/** The rows of a page and one more, in order. */
interface PageRows {
  readonly sql: string
  /** What is sent of each. */
  readonly values: ReadonlyArray<string>
  /** How many bytes of its JSON are not sent. */
  readonly keyBytes: number
  readonly limit: number
}

const sentRows = ({ sql, values }: PageRows): string =>
  `(SELECT ${call("record_send", `ROW(${values.join(", ")})`)} AS "r" FROM (${sql}) AS ${ROWS} OFFSET 0) AS "q"`

const length = (value: string): string => call("octet_length", value)

/** The rows for which it holds put together, and how many there are in all. */
const gathered = (holds: string): string =>
  `SELECT ROW(${call("string_agg", `"r"`, `''::pg_catalog.bytea`)} FILTER (WHERE ${holds})), ${castTo(call("count", "*"), "text")} `

/**
 * Of rows that are all short, so that any number of them makes no long page: where fewer are sent than were found, the page
 * is read again by `summedPage`. Undefined where none would be short enough.
 */
const fixedBudgetPage = (page: PageRows): string | undefined => {
  const longest = Math.floor(PAGE_BYTES / page.limit) - page.keyBytes
  if (longest <= 0) return undefined
  return `${gathered(operate(length(`"r"`), "<=", String(longest)))}FROM ${sentRows(page)}`
}

/** Of rows of any length: their bytes are added up. */
const summedPage = (page: PageRows): string => {
  const fits = `(${operate(`"bytes"`, "<=", String(PAGE_BYTES))} OR ${operate(`"n"`, "=", "1")})`
  const bytes = call("sum", operate(length(`"q"."r"`), "+", String(page.keyBytes)))
  return (
    gathered(`${fits} AND ${operate(length(`"r"`), "<=", String(MAX_ROW_BYTES))}`) +
    `FROM (SELECT "q".*, ${call("row_number")} OVER "w" AS "n", ${bytes} OVER "w" AS "bytes" ` +
    `FROM ${sentRows(page)} WINDOW "w" AS (ROWS UNBOUNDED PRECEDING)) AS "s"`
  )
}
