/**
 * A page as one row of PostgreSQL: its rows as concatenated records, and how many were found. One message with a whole
 * page costs half as much as one message per row, and a page's bytes are bounded before they are concatenated.
 */
import { PAGE_BYTES } from "@data-cabinet/core/pagination/Page"
import type { ReadableColumn, ReadableTable } from "@data-cabinet/core/row/Catalog"
import type { RecordBytes } from "./RecordBytes.ts"
import { type EncodedColumn, encodedColumn, RecordToJson, rowsWithin } from "./RecordToJson.ts"
import { type FoundRows, MAX_ROW_BYTES, type PageQuery, shownColumn } from "@data-cabinet/core/row/RowReader"
import { call, castTo, operate } from "@data-cabinet/core/row/SystemSql"
import { RowPosition } from "./RowPosition.ts"

/** A result row as returned by the driver: text, or the position of a record's bytes. */
export type ResultRow = ReadonlyArray<string | RecordBytes | null>

/** The alias of the page's query. */
const ROWS = `"t"`

/** Tables with rows that proved too long for a page that does not sum its bytes. */
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
    // A fixed budget may turn out too small, and running a view's query twice may cost too much.
    const mayReadTwice = query.table.identity !== "text" && !longRows.has(query.table)
    const fixedBudget = mayReadTwice ? fixedBudgetPage(rows) : undefined
    this.#isFixedBudget = fixedBudget !== undefined
    this.text = fixedBudget ?? summedPage(rows)
  }

  /** Null if there are rows too long for this statement: a page built from the same query from then on can read them. */
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
  /** The values that are sent of each row. */
  readonly values: ReadonlyArray<string>
  /** Bytes of its JSON that are not sent. */
  readonly keyBytes: number
  readonly limit: number
}

const sentRows = ({ sql, values }: PageRows): string =>
  `(SELECT ${call("record_send", `ROW(${values.join(", ")})`)} AS "r" FROM (${sql}) AS ${ROWS} OFFSET 0) AS "q"`

const length = (value: string): string => call("octet_length", value)

/** Concatenates the rows for which `holds` is true, and counts all rows. */
const gathered = (holds: string): string =>
  `SELECT ROW(${call("string_agg", `"r"`, `''::pg_catalog.bytea`)} FILTER (WHERE ${holds})), ${castTo(call("count", "*"), "text")} `

/**
 * For rows that are all short, so that any number of them fits a page. If fewer are sent than were found, the page is
 * read again by `summedPage`. Undefined if no row would be short enough.
 */
const fixedBudgetPage = (page: PageRows): string | undefined => {
  const longest = Math.floor(PAGE_BYTES / page.limit) - page.keyBytes
  if (longest <= 0) return undefined
  return `${gathered(operate(length(`"r"`), "<=", String(longest)))}FROM ${sentRows(page)}`
}

/** For rows of any length: their bytes are summed. */
const summedPage = (page: PageRows): string => {
  const fits = `(${operate(`"bytes"`, "<=", String(PAGE_BYTES))} OR ${operate(`"n"`, "=", "1")})`
  const bytes = call("sum", operate(length(`"q"."r"`), "+", String(page.keyBytes)))
  return (
    gathered(`${fits} AND ${operate(length(`"r"`), "<=", String(MAX_ROW_BYTES))}`) +
    `FROM (SELECT "q".*, ${call("row_number")} OVER "w" AS "n", ${bytes} OVER "w" AS "bytes" ` +
    `FROM ${sentRows(page)} WINDOW "w" AS (ROWS UNBOUNDED PRECEDING)) AS "s"`
  )
}
