/** The form of a table's screen: search, filters, period, order and columns, in one form that works without script. */
import type { ReadableColumn } from "@data-cabinet/core/row/Catalog"
import type { TableKind } from "@data-cabinet/core/row/Table"
import { FILTER_CONDITIONS, FILTER_JOINS, MAX_SORTS } from "@data-cabinet/core/selection/Selection"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { ICONS } from "../html/Icons.ts"
import { type Menu, menu } from "../html/Menu.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { textOrderNotes } from "./ColumnSettings.ts"
import { lineField, lineForm } from "./FilterLineForm.ts"
import {
  filtersOf,
  firstPage,
  type ShownFilter,
  sortsOf,
  valueOf,
  valuesOf,
  without,
  withoutFilter,
  withQuery,
} from "../screen/SelectionLinks.ts"
import { DAYS } from "./Days.ts"
import { WHOLE_COLUMNS } from "./ColumnPart.ts"
import { indexPath } from "./IndexScreen.ts"
import { rebuildPath } from "./RebuildScreen.ts"
import { tablePath } from "./TablePath.ts"

export interface ToolbarData {
  readonly schema: string
  readonly name: string
  /** A view has no indexes. */
  readonly kind: TableKind
  /** A source's table, whose columns have settings. */
  readonly ofSource: boolean
  /** The table's columns, in its order. */
  readonly columns: ReadonlyArray<ReadableColumn>
  readonly labels: ReadonlyMap<string, string>
  readonly pairs: Pairs
  /** The names of the columns that are shown. */
  readonly shown: ReadonlyArray<string>
}

const checked = (is: boolean) => is && new Html(" checked")
const selected = (is: boolean) => is && new Html(" selected")

const labelOf = ({ labels }: ToolbarData, name: string) => labels.get(name) ?? name

const columnOptions = (data: ToolbarData, names: ReadonlyArray<string>, chosen: string, none: string | null) =>
  markup`${none !== null && markup`<option value="">${none}</option>`}${names.map(
    (name) => markup`<option value="${name}"${selected(name === chosen)}>${labelOf(data, name)}</option>`,
  )}`

const filterLine = (frame: Frame, data: ToolbarData, filter: ShownFilter | null, at: number) => {
  const { table: words } = frame.words
  const names = data.columns.map(({ name }) => name)
  const join = filter?.or === true ? "or" : "and"
  return markup`<div class="filter">${at > 0 && markup`<select name="fj" class="join" aria-label="${words.join}">${FILTER_JOINS.map((word) => markup`<option value="${word}"${selected(word === join)}>${words.joins[word]}</option>`)}</select>`}<select name="fc" aria-label="${words.column}">${columnOptions(data, names, filter?.column ?? "", "–")}</select>
<select name="fo" aria-label="${words.condition}">${FILTER_CONDITIONS.map(
    (condition) =>
      markup`<option value="${condition}"${selected(condition === (filter?.condition ?? "eq"))}>${words.conditions[condition] ?? condition}</option>`,
  )}</select>
<input name="fv" value="${filter?.value ?? ""}" aria-label="${words.value}" placeholder="${words.value}"></div>`
}

const DATES: ReadonlySet<string> = new Set(["date", "timestamp", "timestamptz"])

const periodMenu = (frame: Frame, data: ToolbarData): Menu | null => {
  const { table: words } = frame.words
  const dates = data.columns.filter(({ type }) => DATES.has(type.kind)).map(({ name }) => name)
  if (dates.length === 0) return null
  const [from, to] = [valueOf(data.pairs, "from") ?? "", valueOf(data.pairs, "to") ?? ""]
  return {
    id: "period",
    face: markup`${ICONS.calendar}<span>${words.period}</span>`,
    body: markup`<label>${words.column}<select name="per">${columnOptions(data, dates, valueOf(data.pairs, "per") ?? "", null)}</select></label>
<div class="row wrap days">${DAYS.map((one) => markup`<button name="days" value="${one}">${words.days[one]}</button>`)}</div><label>${words.from}<input type="date" name="from" value="${from}"></label><label>${words.to}<input type="date" name="to" value="${to}"></label>
<button class="main">${words.apply}</button>`,
  }
}

/** The order in words; null for the table's own. */
const sortFace = (frame: Frame, data: ToolbarData): HtmlValue => {
  const [first, ...others] = sortsOf(data.pairs)
  if (first === undefined) return null
  const icon = first.direction === "desc" ? ICONS.descending : ICONS.ascending
  const names = [first, ...others].map(({ column }) => labelOf(data, column)).join(", ")
  return markup`${icon}<span class="clipped">${frame.words.table.sort}: ${names}</span>`
}

/** A line of the order; the first may name the table's own. */
const sortLine = (
  frame: Frame,
  data: ToolbarData,
  { column, direction }: ReturnType<typeof sortsOf>[number],
  at: number,
) => {
  const { table: words } = frame.words
  const names = data.columns.filter(({ type }) => type.operators !== null).map(({ name }) => name)
  const directions = { asc: words.ascending, desc: words.descending }
  return markup`<div class="sorting"><select name="sort" aria-label="${at === 0 ? words.sortBy : words.thenBy}">${columnOptions(data, names, column, at === 0 ? words.ownOrder : words.thenBy)}</select>
<select name="dir" aria-label="${words.direction}">${direction === "" && markup`<option value="">–</option>`}${Object.entries(directions).map(([value, word]) => markup`<option value="${value}"${selected(value === direction)}>${word}</option>`)}</select></div>`
}

const sortMenu = (frame: Frame, data: ToolbarData): Menu => {
  const { table: words } = frame.words
  const sorts = sortsOf(data.pairs)
  const own = { column: "", direction: sorts.length === 0 ? (valueOf(data.pairs, "dir") ?? "") : "" }
  const lines = sorts.length === 0 || sorts.length < MAX_SORTS ? [...sorts, own] : sorts
  return {
    id: "sort",
    face: sortFace(frame, data) ?? markup`${ICONS.ascending}<span>${words.sort}</span>`,
    body: markup`<fieldset><legend>${words.sortBy}</legend>${lines.map((line, at) => sortLine(frame, data, line, at))}</fieldset>
<button class="main">${words.apply}</button>`,
  }
}

const columnsMenu = (frame: Frame, data: ToolbarData): Menu => {
  const { table: words } = frame.words
  const shown = new Set(data.shown)
  const count = shown.size === data.columns.length ? null : ` ${shown.size}/${data.columns.length}`
  return {
    id: "columns",
    face: markup`${ICONS.columns}<span>${words.columns}${count}</span>`,
    body: markup`<fieldset class="scroll"><legend>${words.columns}</legend>${data.columns.map(
      ({ name }) =>
        markup`<label class="choice"><input type="checkbox" name="show" value="${name}"${checked(shown.has(name))}> ${labelOf(data, name)}</label>`,
    )}</fieldset>
${["col", "order"].map((list) => valuesOf(data.pairs, list).map((name) => markup`<input type="hidden" name="${list}" value="${name}">`))}
<button class="main">${words.apply}</button><a class="item" href="${consolePath(frame, "me")}#look">${ICONS.edit}${frame.words.me.rows}</a>${hasIndexes(frame, data) && markup`<a class="item" href="${indexPath(frame, data.schema, data.name)}">${ICONS.search}${frame.words.index.link}</a>`}${data.ofSource && may(frame, "column.change") && markup`<a class="item" href="${rebuildPath(frame, data.schema, data.name)}">${ICONS.edit}${frame.words.rebuild.link}</a>`}`,
  }
}

export const hasIndexes = (frame: Frame, { kind }: Pick<ToolbarData, "kind">): boolean =>
  kind !== "view" && may(frame, "column.read")

const filterMenu = (frame: Frame, data: ToolbarData): Menu => {
  const { table: words } = frame.words
  const filters = filtersOf(data.pairs)
  return {
    id: "filters",
    face: markup`${ICONS.filter}<span>${words.filters}${filters.length > 0 && ` ${filters.length}`}</span>`,
    body: markup`<fieldset><legend>${words.filters}</legend>${[...filters, null].map((filter, at) => filterLine(frame, data, filter, at))}${filters.length > 1 && markup`<small>${words.joinHint}</small>`}</fieldset>
<button class="main">${words.apply}</button>`,
  }
}

const menusOf = (frame: Frame, data: ToolbarData): ReadonlyArray<Menu> =>
  [filterMenu(frame, data), periodMenu(frame, data), sortMenu(frame, data), columnsMenu(frame, data)].filter(
    (one) => one !== null,
  )

const hiddenFields = (pairs: Pairs, ...names: ReadonlyArray<string>): ReadonlyArray<Html> =>
  without(firstPage(pairs), ...names).map(
    ([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`,
  )

/** Menus that name each column take too much room for so many: they are a screen of their own. */
const hasFewColumns = ({ columns }: ToolbarData): boolean => columns.length <= WHOLE_COLUMNS

const settingsLink = (frame: Frame, data: ToolbarData): Html => {
  const { table: words } = frame.words
  const href = withQuery(`${tablePath(frame, data.schema, data.name)}/settings`, firstPage(data.pairs))
  return markup`<a class="button" href="${href}">${ICONS.filter}<span>${words.settings}</span>${sortFace(frame, data)}</a>${hiddenFields(data.pairs, "q", "limit")}`
}

/** The form with everything in the open, for a table of many columns. */
export const settingsScreen = (frame: Frame, data: ToolbarData): Screen => {
  const { table: words } = frame.words
  const path = tablePath(frame, data.schema, data.name)
  return {
    title: `${words.settings} · ${data.schema}.${data.name}`,
    section: "tables",
    main: markup`<p><a href="${withQuery(path, data.pairs)}">← ${data.schema}.${data.name}</a></p><h1>${words.settings}</h1>
<form class="form" method="get" action="${path}/select">${["q", "limit"].map((name) => valueOf(data.pairs, name) !== undefined && markup`<input type="hidden" name="${name}" value="${valueOf(data.pairs, name) ?? ""}">`)}${menusOf(frame, data).map(({ body }) => markup`<div class="card menu-page">${body}</div>`)}</form>`,
  }
}

/** `isWhole`: with all menus, whatever the width, for a selection that was refused. */
export const toolbar = (frame: Frame, data: ToolbarData, isWhole: boolean): Html => {
  const { table: words } = frame.words
  const { pairs } = data
  const path = tablePath(frame, data.schema, data.name)
  const limit = valueOf(pairs, "limit")
  const menus =
    isWhole || hasFewColumns(data) ? menusOf(frame, data).map((one) => menu(one)) : settingsLink(frame, data)
  return markup`<form class="tools" method="get" action="${path}/select" role="search" aria-label="${data.schema}.${data.name}">
<label class="field">${ICONS.search}<input type="search" name="q" value="${valueOf(pairs, "q") ?? ""}" aria-label="${words.search}" placeholder="${words.search}" data-key="/"></label>
<button class="hide" tabindex="-1">${words.apply}</button>
${lineField(frame, data)}
${menus}
${limit !== undefined && markup`<input type="hidden" name="limit" value="${limit}">`}
</form>${lineForm(frame, data)}${chips(frame, data)}${textOrderNotes(frame, data)}`
}

/** The conditions of the selection, each with a link that removes it. */
export const chips = (frame: Frame, data: ToolbarData): HtmlValue => {
  const { table: words } = frame.words
  const { pairs } = data
  const path = tablePath(frame, data.schema, data.name)
  const chip = (text: HtmlValue, rest: Pairs) =>
    markup`<li class="chip"><span>${text}</span><a href="${withQuery(path, rest)}" aria-label="${words.remove}">${ICONS.cross}</a></li>`
  const all: Array<Html> = []
  const search = valueOf(pairs, "q") ?? ""
  if (search !== "") all.push(chip(markup`“${search}”`, without(pairs, "cursor", "q")))
  for (const [at, { column, condition, value, or }] of filtersOf(pairs).entries()) {
    const said = words.conditions[condition] ?? condition
    all.push(
      chip(
        markup`${or === true && markup`<i>${words.joins.or}</i> `}<b>${labelOf(data, column)}</b> ${said} ${value}`,
        withoutFilter(pairs, at),
      ),
    )
  }
  const per = valueOf(pairs, "per")
  if (per !== undefined) {
    const days = `${valueOf(pairs, "from") ?? "…"} – ${valueOf(pairs, "to") ?? "…"}`
    all.push(chip(markup`<b>${labelOf(data, per)}</b> ${days}`, without(pairs, "cursor", "per", "from", "to")))
  }
  const hidden = data.columns.length - data.shown.length
  if (hidden > 0) all.push(chip(words.hidden(hidden), without(firstPage(pairs), "hide", "col")))
  if (all.length === 0) return null
  return markup`<ul class="chips" aria-label="${words.filters}">${all}${all.length > 1 && markup`<li><a href="${path}">${words.clear}</a></li>`}</ul>`
}
