/**
 * A page as one row of PostgreSQL's: its rows put together, how many were found, and the places where it may end. One message
 * with a whole page costs half of one message a row, and a page's bytes are bounded before they are put together.
 */
import { PAGE_BYTES } from "../page/Page.ts"
import type { SentRow } from "../row/SentRow.ts"
import type { OrderTerm } from "./OrderSql.ts"

/** A value of a place that is longer as text cannot be carried in a cursor; its column is cut one character later. */
export const LONGEST_PLACE_VALUE = 4_000

/** A row longer than this is not sent; the driver takes no message over 16 MiB. */
export const LONGEST_ROW = 15 * 1024 * 1024

/** Up to here a page is not expected to end early, and only the place of its last row is written down. */
const EARLY_END = PAGE_BYTES / 4

/** The rows of a page and one more, in order, with the terms of that order as the columns `p0`, `p1` and so on. */
export interface PageRows {
  readonly sql: string
  readonly row: SentRow
  readonly terms: ReadonlyArray<OrderTerm>
  readonly limit: number
}

const placesOf = ({ terms }: PageRows): ReadonlyArray<string> => terms.map((_, index) => `"p${index}"`)

const sentRows = (page: PageRows): string =>
  `(SELECT ${[`record_send(${page.row.sql}) AS "r"`, ...placesOf(page).map((one) => `"t".${one}`)].join(", ")}` +
  ` FROM (${page.sql}) AS "t" OFFSET 0) AS "q"`

const cut = (value: string): string => `left(${value}::text, ${LONGEST_PLACE_VALUE + 1})`

/** Their values are short, whatever they are, and are made texts only where one is needed. */
const SHORT_TYPES: ReadonlySet<string> = new Set(
  ["int2", "int4", "int8", "float4", "float8", "oid", "tid", "date", "timestamp", "timestamptz", "uuid"].map(
    (name) => `"pg_catalog"."${name}"`,
  ),
)

/**
 * Of rows that are all short, so that any number of them makes no long page: whoever reads fewer than were found asks
 * for `carefulPage`. Undefined where none would be short enough.
 */
export const hastyPage = (page: PageRows): string | undefined => {
  const longest = Math.floor(PAGE_BYTES / page.limit) - page.row.keyBytes
  if (longest <= 0) return undefined
  const ends = placesOf(page).map((one, index) => {
    const value = SHORT_TYPES.has(page.terms[index]!.type) ? one : cut(one)
    return `(array_agg(${value}))[${page.limit}]::text`
  })
  return (
    `SELECT ROW(string_agg("r", ''::bytea) FILTER (WHERE octet_length("r") <= ${longest})), count(*)::text, ` +
    `json_build_array(json_build_array(${ends.join(", ")}))::text FROM ${sentRows(page)}`
  )
}

/** Of rows of any length: their bytes are added up. With `everyPlace` the places of all rows are told, not of the last. */
export const carefulPage = (page: PageRows, everyPlace: boolean): string => {
  const shown = `"n" <= ${page.limit} AND ("bytes" <= ${PAGE_BYTES} OR "n" = 1) AND octet_length("r") <= ${LONGEST_ROW}`
  const mayBeLast = everyPlace ? "true" : `("n" = ${page.limit} OR "bytes" > ${EARLY_END})`
  return (
    `SELECT ROW(string_agg("r", ''::bytea) FILTER (WHERE ${shown})), count(*)::text, ` +
    `json_agg(json_build_array(${placesOf(page).map(cut).join(", ")})) FILTER (WHERE ${shown} AND ${mayBeLast})::text ` +
    `FROM (SELECT "q".*, row_number() OVER "w" AS "n", sum(octet_length("q"."r") + ${page.row.keyBytes}) OVER "w" AS "bytes" ` +
    `FROM ${sentRows(page)} WINDOW "w" AS (ROWS UNBOUNDED PRECEDING)) AS "s"`
  )
}
