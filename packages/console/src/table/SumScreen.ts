/** Exact numbers about a selection: at the foot of the table, and as a screen. */
import type { ReadableColumn, ReadableTable } from "@data-cabinet/core/row/Catalog"
import type { ColumnSum } from "@data-cabinet/core/selection/ColumnSums"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import type { Frame, Screen } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { withQuery } from "../screen/SelectionLinks.ts"
import { tablePath } from "./TablePath.ts"

/** A parameter of the screen of the count: counts all rows, however many. */
export const EXACT = "exact"

export interface SumData {
  readonly table: ReadableTable
  /** Undefined for the rows alone. */
  readonly column: ReadableColumn | undefined
  /** Null if it took too long. */
  readonly sum: ColumnSum | null
  readonly pairs: Pairs
}

const labelOf = ({ table, column }: SumData): string | null =>
  column === undefined ? null : (table.detail.columns.find(({ name }) => name === column.name)?.label ?? column.name)

const factsOf = ({ words }: Frame, { column, sum }: SumData): ReadonlyArray<readonly [string, string]> => {
  if (sum === null) return []
  const { sums, table } = words
  const all: ReadonlyArray<readonly [string, string | null]> = [
    [sums.sum, sum.sum],
    [sums.average, sum.average],
    [sums.least, sum.least],
    [sums.greatest, sum.greatest],
    [table.empty, column !== undefined && sum.filled < sum.rows ? table.number(sum.rows - sum.filled) : null],
  ]
  return all.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
}

export const sumText = (frame: Frame, data: SumData): Html => {
  const { sums, table } = frame.words
  if (data.sum === null) return markup`${sums.late}`
  const label = labelOf(data)
  const facts = factsOf(frame, data).map(([name, value]) => markup` ${name} <b>${value}</b> ·`)
  return markup`${label !== null && markup`<b>${label}</b>:${facts} `}${table.exactly(data.sum.rows)}`
}

export const sumScreen = (frame: Frame, data: SumData): Screen => {
  const { sums, table } = frame.words
  const { schema, name } = data.table.detail
  const rows = data.sum === null ? sums.late : table.exactly(data.sum.rows)
  const label = labelOf(data)
  const title = label === null ? rows : sums.of(label)
  const facts = factsOf(frame, data).map(([term, value]) => markup`<dt>${term}</dt><dd>${value}</dd>`)
  return {
    title: `${title} · ${schema}.${name}`,
    section: "tables",
    main: markup`<p><a href="${withQuery(tablePath(frame, schema, name), data.pairs)}">← ${schema}.${name}</a></p><h1>${title}</h1>${label !== null && markup`<p class="soft">${rows}</p>`}<dl class="facts">${facts}</dl>`,
  }
}
