/**
 * A page as one row of PostgreSQL's: its rows put together, and how many were found. One message with a whole page costs half
 * of one message a row, and a page's bytes are bounded before they are put together.
 */
import { PAGE_BYTES } from "../pagination/Page.ts"
import { call, castTo, operate } from "../row/SystemSql.ts"

/** A row longer than this is not sent; the driver takes no message over 16 MiB. */
export const MAX_ROW_BYTES = 15 * 1024 * 1024

/** The rows of a page and one more, in order. */
export interface PageRows {
  readonly sql: string
  /** What is sent of each. */
  readonly values: ReadonlyArray<string>
  /** How many bytes of its JSON are not sent. */
  readonly keyBytes: number
  readonly limit: number
}

const sentRows = ({ sql, values }: PageRows): string =>
  `(SELECT ${call("record_send", `ROW(${values.join(", ")})`)} AS "r" FROM (${sql}) AS "t" OFFSET 0) AS "q"`

const length = (value: string): string => call("octet_length", value)

/** The rows for which it holds put together, and how many there are in all. */
const gathered = (holds: string): string =>
  `SELECT ROW(${call("string_agg", `"r"`, `''::pg_catalog.bytea`)} FILTER (WHERE ${holds})), ${castTo(call("count", "*"), "text")} `

/**
 * Of rows that are all short, so that any number of them makes no long page: whoever reads fewer than were found asks
 * for `summedPage`. Undefined where none would be short enough.
 */
export const fixedBudgetPage = (page: PageRows): string | undefined => {
  const longest = Math.floor(PAGE_BYTES / page.limit) - page.keyBytes
  if (longest <= 0) return undefined
  return `${gathered(operate(length(`"r"`), "<=", String(longest)))}FROM ${sentRows(page)}`
}

/** Of rows of any length: their bytes are added up. */
export const summedPage = (page: PageRows): string => {
  const fits = `(${operate(`"bytes"`, "<=", String(PAGE_BYTES))} OR ${operate(`"n"`, "=", "1")})`
  const bytes = call("sum", operate(length(`"q"."r"`), "+", String(page.keyBytes)))
  return (
    gathered(`${fits} AND ${operate(length(`"r"`), "<=", String(MAX_ROW_BYTES))}`) +
    `FROM (SELECT "q".*, ${call("row_number")} OVER "w" AS "n", ${bytes} OVER "w" AS "bytes" ` +
    `FROM ${sentRows(page)} WINDOW "w" AS (ROWS UNBOUNDED PRECEDING)) AS "s"`
  )
}
