/** The heading of a column: it sorts, and leads to the menu with the column's other actions, which is read on demand. */
import type { ReadableColumn } from "@data-cabinet/core/row/Catalog"
import { MAX_SORTS } from "@data-cabinet/core/selection/Selection"
import { hasSums } from "@data-cabinet/core/selection/ColumnSums"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { ICONS } from "../html/Icons.ts"
import type { Frame, Screen } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { settingsPath } from "./ColumnSettings.ts"
import {
  filtersOf,
  firstPage,
  hiding,
  moving,
  puttingFirst,
  sortedBy,
  sortPairs,
  sortsOf,
  withFilters,
  without,
  withQuery,
} from "../screen/SelectionLinks.ts"
import { tablePath } from "./TablePath.ts"
import type { ToolbarData } from "./TableToolbar.ts"

const directionOf = ({ pairs }: ToolbarData, name: string): "asc" | "desc" | null => {
  const sort = sortsOf(pairs).find(({ column }) => column === name)
  return sort === undefined ? null : sort.direction === "desc" ? "desc" : "asc"
}

/** The order with this column behind the others, in both directions; nothing if it is the only one. */
const thenBy = ({ pairs }: ToolbarData, name: string): ReadonlyArray<readonly ["ascending" | "descending", Pairs]> => {
  const others = sortsOf(pairs).filter(({ column }) => column !== name)
  if (others.length === 0 || others.length >= MAX_SORTS) return []
  const withLast = (direction: string): Pairs => [
    ...without(pairs, "cursor", "sort", "dir"),
    ...sortPairs([...others, { column: name, direction }]),
  ]
  return [
    ["ascending", withLast("asc")],
    ["descending", withLast("desc")],
  ]
}

/** Its actions, as the content of a menu. */
export const columnMenu = (frame: Frame, bar: ToolbarData, column: ReadableColumn): Html => {
  const { table: words } = frame.words
  const label = bar.labels.get(column.name) ?? column.name
  const path = tablePath(frame, bar.schema, bar.name)
  const item = (icon: HtmlValue, text: string, pairs: Pairs) =>
    markup`<a class="item" href="${withQuery(path, pairs)}">${icon}${text}</a>`
  const condition = column.type.kind === "text" ? "contains" : "eq"
  const sorts = column.type.operators !== null && [
    item(ICONS.ascending, words.ascending, sortedBy(bar.pairs, column.name, "asc")),
    item(ICONS.descending, words.descending, sortedBy(bar.pairs, column.name, "desc")),
    ...thenBy(bar, column.name).map(([direction, pairs]) =>
      item(ICONS[direction], `${words.thenBy}: ${words[direction]}`, pairs),
    ),
  ]
  const filter = { column: column.name, condition: "notempty", value: "" }
  const [left, right] = [moving(bar.pairs, bar.shown, column.name, -1), moving(bar.pairs, bar.shown, column.name, 1)]
  const settings = settingsPath(frame, bar, column.name)
  return markup`<p class="soft mono">${column.name} · ${column.type.name}</p>${column.type.kind === "text" && markup`<p class="soft">${words.textOrder}</p>`}${sorts}
${item(ICONS.columns, words.first, puttingFirst(bar.pairs, column.name))}
${left !== null && item(ICONS.left, words.left, left)}${right !== null && item(ICONS.right, words.right, right)}
${item(ICONS.cross, words.hide, hiding(bar.pairs, column.name))}
<a class="item" href="${withQuery(`${path}/values`, [["column", column.name], ...firstPage(bar.pairs)])}" data-into="values">${ICONS.values} ${words.values}</a><div id="values"></div>
${hasSums(column) && markup`<a class="item" href="${withQuery(`${path}/count`, [["column", column.name], ...firstPage(bar.pairs)])}" data-into="sum">${ICONS.sum}${frame.words.sums.link}</a>`}
${settings !== null && markup`<a class="item" href="${settings}">${ICONS.edit}${words.change}</a>`}
${item(ICONS.filter, `${label} ${words.conditions["notempty"] ?? ""}`, withFilters(bar.pairs, [...filtersOf(bar.pairs), filter]))}
<form class="row" method="get" action="${path}/select">${withFilters(bar.pairs, filtersOf(bar.pairs)).map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`)}
<input type="hidden" name="fc" value="${column.name}"><input type="hidden" name="fo" value="${condition}"><input name="fv" aria-label="${label} ${words.conditions[condition] ?? ""}" placeholder="${words.conditions[condition] ?? ""}"><button>${words.filter}</button></form>`
}

/** The same as a screen, for a browser without scripts. */
export const columnMenuScreen = (frame: Frame, bar: ToolbarData, column: ReadableColumn): Screen => {
  const title = frame.words.table.menu(bar.labels.get(column.name) ?? column.name)
  const path = tablePath(frame, bar.schema, bar.name)
  return {
    title: `${title} · ${bar.schema}.${bar.name}`,
    section: "tables",
    main: markup`<p><a href="${withQuery(path, bar.pairs)}">← ${bar.schema}.${bar.name}</a></p><h1>${title}</h1><div class="card menu-page">${columnMenu(frame, bar, column)}</div>`,
  }
}

/** `at`: its place among all shown columns. */
export const heading = (
  frame: Frame,
  bar: ToolbarData,
  column: ReadableColumn,
  at: number,
  isPinned: boolean,
): Html => {
  const { table: words } = frame.words
  const label = bar.labels.get(column.name) ?? column.name
  const direction = directionOf(bar, column.name)
  const path = tablePath(frame, bar.schema, bar.name)
  const sign = direction === null ? null : direction === "asc" ? ICONS.ascending : ICONS.descending
  const text = markup`<span>${label}</span>${sign}`
  const next = sortedBy(bar.pairs, column.name, direction === "asc" ? "desc" : "asc")
  const sort = direction !== null && new Html(` aria-sort="${direction === "asc" ? "ascending" : "descending"}"`)
  const menu = withQuery(`${path}/menu`, [["column", column.name], ...firstPage(bar.pairs)])
  const place = bar.columns.findIndex(({ name }) => name === column.name)
  return markup`<th scope="col" aria-colindex="${at + 2}" data-value="value-${place}" class="${column.type.kind === "number" ? "n" : ""}${isPinned && " p"}"${hasSums(column) && new Html(" data-sum")}${sort}><div>${
    column.type.operators === null ? text : markup`<a class="sort" href="${withQuery(path, next)}">${text}</a>`
  }<a class="button quiet mini" href="${menu}" data-menu="column-menu" aria-label="${words.menu(label)}">${ICONS.down}</a></div></th>`
}
