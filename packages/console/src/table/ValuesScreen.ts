/**
 * Facts about a selection that take at most a second: its most frequent values of a column, and how many rows it has.
 */
import type { ReadableColumn, ReadableTable } from "@data-cabinet/core/row/Catalog"
import type { Facets, RowCount } from "@data-cabinet/core/selection/SampleRows"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import type { Frame, Screen } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { shownText } from "@data-cabinet/core/row/CellTokens"
import { filtersOf, firstPage, withFilters, withQuery } from "../screen/SelectionLinks.ts"
import { EXACT } from "./SumScreen.ts"
import { tablePath } from "./TablePath.ts"

export interface ValuesData {
  readonly table: ReadableTable
  readonly column: ReadableColumn
  readonly facets: Facets
  readonly pairs: Pairs
}

/** Longer values are cut; the link filters by all of it. */
const VALUE_CHARACTERS = 120

/** The values as a list: each narrows the selection to itself, where the column's type can be compared. */
export const valueList = (frame: Frame, { table, column, facets, pairs }: ValuesData): Html => {
  const { table: words } = frame.words
  const path = tablePath(frame, table.detail.schema, table.detail.name)
  // The most frequent comes first.
  const most = facets.values[0]?.count ?? 1
  const line = ({ value, count }: Facets["values"][number]) => {
    const isNull = value === "null"
    const text = shownText(value)
    const filter = { column: column.name, condition: isNull ? "empty" : "eq", value: isNull ? "" : text }
    const shown = isNull
      ? markup`<i class="soft">${words.null}</i>`
      : text === ""
        ? markup`<i class="soft">${words.emptyText}</i>`
        : markup`<span>${text.length > VALUE_CHARACTERS ? `${text.slice(0, VALUE_CHARACTERS)}…` : text}</span>`
    const face = markup`${shown}<b>${words.number(count)}</b><meter max="${most}" value="${count}" aria-hidden="true"></meter>`
    return column.type.operators === null && !isNull
      ? markup`<li><span class="facet">${face}</span></li>`
      : markup`<li><a class="facet" href="${withQuery(path, withFilters(pairs, [...filtersOf(pairs), filter]))}">${face}</a></li>`
  }
  return markup`<p class="soft">${words.ofRows(facets.rows, facets.exact)}</p><ul class="facets">${facets.values.map(line)}</ul>${facets.others > 0 && markup`<p class="soft">${words.others(facets.others)}</p>`}`
}

export const valuesScreen = (frame: Frame, data: ValuesData): Screen => {
  const { schema, name, columns } = data.table.detail
  const label = columns.find((one) => one.name === data.column.name)?.label ?? data.column.name
  const title = frame.words.table.valuesOf(label)
  return {
    title: `${title} · ${schema}.${name}`,
    section: "tables",
    main: markup`<p><a href="${withQuery(tablePath(frame, schema, name), firstPage(data.pairs))}">← ${schema}.${name}</a></p>
<div class="head"><h1>${title}</h1></div><div class="card">${valueList(frame, data)}</div>`,
  }
}

export const countText = ({ words: { table: words } }: Frame, { count, atLeast }: RowCount): string =>
  atLeast ? words.moreThan(count) : words.exactly(count)

/** With a link to the exact number, if it is not this one. */
export const countLine = (frame: Frame, { detail }: ReadableTable, pairs: Pairs, count: RowCount): Html => {
  const path = `${tablePath(frame, detail.schema, detail.name)}/count`
  const exact = markup` · <a href="${withQuery(path, [...pairs, [EXACT, "1"]])}" data-into="total">${frame.words.sums.exactly}</a>`
  return markup`${countText(frame, count)}${count.atLeast && exact}`
}

export const countScreen = (frame: Frame, table: ReadableTable, pairs: Pairs, count: RowCount): Screen => {
  const { schema, name } = table.detail
  const title = countText(frame, count)
  return {
    title: `${title} · ${schema}.${name}`,
    section: "tables",
    main: markup`<p><a href="${withQuery(tablePath(frame, schema, name), pairs)}">← ${schema}.${name}</a></p><h1>${title}</h1>${count.atLeast && markup`<p>${countLine(frame, table, pairs, count)}</p>`}`,
  }
}
