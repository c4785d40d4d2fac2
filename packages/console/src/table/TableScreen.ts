/**
 * The screen of a table: its toolbar, and its rows in a real table. It is whole without a script: every header sorts,
 * every filter is a link away from being removed, and pages follow by their cursor. The script only loads them while
 * scrolling.
 */
import type { ReadableColumn, ReadableTable } from "@data-cabinet/core/row/Catalog"
import type { SavedView } from "@data-cabinet/core/view/SavedView"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { ICONS } from "../html/Icons.ts"
import type { Frame, Screen } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { badgesOf, pinnedOf, type RowFormat, rowLine, widthsOf } from "./Cells.ts"
import { mayDraw } from "@data-cabinet/core/selection/PictureColumns"
import { type Live, liveLink } from "../live/LiveLink.ts"
import { BADGE, type ColumnPart, PART } from "./ColumnPart.ts"
import { partNav } from "./PartNav.ts"
import { heading } from "./ColumnHeading.ts"
import { firstPage, valueOf, withFilters, withQuery } from "../screen/SelectionLinks.ts"
import { isEstimated, tablePath } from "./TablePath.ts"
import { saveMenu, viewTitle } from "./ViewList.ts"
import { indexPath } from "./IndexScreen.ts"
import { copyMenu, eraseLink, exportMenu, jumpMenu } from "./TableActs.ts"
import { chips, hasIndexes, toolbar, type ToolbarData } from "./TableToolbar.ts"
import { timeText } from "../html/Moment.ts"

export interface TableData {
  readonly table: ReadableTable
  readonly pairs: Pairs
  readonly timeZone: string
  /** Null if the selection was refused. */
  readonly page: {
    readonly columns: ReadonlyArray<ReadableColumn>
    readonly rows: ReadonlyArray<string>
    readonly nextCursor: string | null
    /** The names of all columns that the selection shows. */
    readonly shown: ReadonlyArray<string>
    /** Null if all of them are read. */
    readonly part: ColumnPart | null
  } | null
  readonly refused: ManageError | null
  /** The selection as a statement; null for one that is refused. */
  readonly sql: string | null
  /** The saved views of this table that the visitor may see. */
  readonly views: ReadonlyArray<SavedView>
  /** Null if the table is not a source's, and while its live state is unknown. */
  readonly live: Live | null
}

/** How the rows of a table are written. */
export const rowFormat = (
  frame: Frame,
  { table, timeZone }: Pick<TableData, "table" | "timeZone">,
  { columns, shown, part }: Pick<NonNullable<TableData["page"]>, "columns" | "shown" | "part">,
  badges: ReadonlyArray<string>,
): RowFormat => {
  const { schema, name, key } = table.detail
  const path = `${tablePath(frame, schema, name)}/row`
  const places = key.map((column) => columns.findIndex((one) => one.name === column))
  const isComplete = key.length > 0 && places.every((place) => place >= 0)
  const names = new Set(part === null ? shown : shown.slice(part.from, part.to))
  return {
    columns,
    places: columns.flatMap(({ name: one }, at) => (names.has(one) ? [at] : [])),
    pinned: pinnedOf(columns.filter(({ name: one }) => names.has(one))),
    badges: new Set(badges),
    time: timeText(timeZone),
    words: frame.words.table,
    rowPath: (tokens) => {
      if (!isComplete) return null
      const filters = key.map((column, at) => {
        const token = tokens[places[at]!] ?? "null"
        const value = token.startsWith('"') ? (JSON.parse(token) as string) : token
        return { column, condition: "eq", value }
      })
      return withQuery(path, withFilters([], filters))
    },
  }
}

const toolbarData = ({ table, pairs, page }: Pick<TableData, "table" | "pairs" | "page">): ToolbarData => ({
  schema: table.detail.schema,
  name: table.detail.name,
  kind: table.detail.kind,
  ofSource: table.detail.source !== null,
  columns: table.columns,
  labels: new Map(table.detail.columns.map(({ name, label }) => [name, label])),
  pairs,
  shown: page?.shown ?? table.columns.map(({ name }) => name),
})

/** The menu of one column. */
export const tableBar = (table: ReadableTable, pairs: Pairs, shown: ReadonlyArray<string>): ToolbarData => ({
  ...toolbarData({ table, pairs, page: null }),
  shown,
})

export const tableScreen = (frame: Frame, data: TableData): Screen => {
  const { table: words } = frame.words
  const { detail } = data.table
  const bar = toolbarData(data)
  const head = markup`<div class="top">${viewTitle(frame, data)} · ${sizeOf(frame, data)}</p>
${liveOf(frame, data)}<button type="button" class="more" popovertarget="acts" aria-label="${words.more}">${ICONS.more}</button><div class="acts" popover id="acts">${jumpMenu(frame, data)}${data.refused === null && saveMenu(frame, detail.schema, detail.name, data.pairs)}${eraseLink(frame, data)}${copyMenu(frame, data)}${exportMenu(frame, data)}</div></div>`
  return {
    title: `${detail.schema}.${detail.name}`,
    section: "tables",
    wide: true,
    main: markup`${head}${toolbar(frame, bar, data.page === null)}${searchNote(frame, data)}
${data.page !== null && grid(frame, data, bar, data.page)}
<aside id="panel" class="panel" hidden aria-label="${words.row}" tabindex="-1"></aside>`,
  }
}

const isUnnarrowed = (pairs: Pairs): boolean => ["q", "fc", "per"].every((name) => valueOf(pairs, name) === undefined)

/** How many rows the table has: exactly, if all of them are on the screen. */
const sizeOf = ({ words: { tables } }: Frame, { table, pairs, page }: TableData): string => {
  const { kind, rows_estimate: rows } = table.detail
  const isWhole = page?.nextCursor === null && isUnnarrowed(pairs) && valueOf(pairs, "cursor") === undefined
  if (isWhole && page.rows.length > 0) return tables.exactly(page.rows.length)
  return isEstimated(rows) ? tables.about(rows) : tables.kinds[kind]
}

/** From this many rows on, a search is slow enough to justify an index. */
const MANY_ROWS = 50_000

/** A search that reads the whole table says how it becomes fast. */
const searchNote = (frame: Frame, { table, pairs }: TableData): HtmlValue => {
  const { schema, name, kind, rows_estimate: rows } = table.detail
  if (table.searchIndexed || (rows ?? 0) < MANY_ROWS || (valueOf(pairs, "q") ?? "") === "") return null
  if (!hasIndexes(frame, { kind })) return null
  const { index: words } = frame.words
  return markup`<p class="soft note">${words.slow} <a href="${indexPath(frame, schema, name)}">${words.link}</a></p>`
}

/** Only reading a new event shows whether it matches the filters. */
const liveOf = (frame: Frame, { live, table, pairs }: TableData): HtmlValue => {
  if (live === null) return null
  const href = withQuery(tablePath(frame, table.detail.schema, table.detail.name), firstPage(pairs))
  return liveLink(frame, { live, href, counts: isUnnarrowed(pairs) ? "rows" : "some" })
}

/** From this many rows on, sums come on request. */
const MANY_SUMMED = 250_000

/** Whether the sums of a column that the keyboard or a click reaches are read by themselves: quickly, and without a customer's code. */
const sumsBySelf = ({ table, pairs }: TableData, columns: ReadonlyArray<string>): boolean => {
  const { rows_estimate: rows } = table.detail
  return isEstimated(rows) && rows <= MANY_SUMMED && mayDraw({ table, params: pairs, columns })
}

const grid = (frame: Frame, data: TableData, bar: ToolbarData, page: NonNullable<TableData["page"]>): Html => {
  const { table: words } = frame.words
  const { columns, rows, nextCursor, part } = page
  const { pairs } = data
  const path = tablePath(frame, bar.schema, bar.name)
  const badges = badgesOf(columns, rows)
  const format = rowFormat(frame, data, page, badges)
  const { pinned } = format
  const inPart: Pairs = part === null ? [] : [[PART, String(part.part)]]
  const cursor = valueOf(pairs, "cursor")
  const widths = widthsOf(columns, bar.labels, rows)
  const rowsPath = withQuery(`${path}/rows`, [
    ...firstPage(pairs),
    ...inPart,
    ...badges.map((name) => [BADGE, name] as const),
  ])
  const sumsNow = sumsBySelf(data, page.shown) && new Html(" data-sums")
  const first = part?.from ?? 0
  return markup`${part !== null && partNav(frame, { path, pairs, part, total: page.shown.length })}<div class="grid" tabindex="0" role="region" aria-label="${words.grid}" data-rows="${rowsPath}"${nextCursor !== null && markup` data-next="${nextCursor}"`}${cursor !== undefined && markup` data-cursor="${cursor}"`}${sumsNow}>
<table aria-rowcount="-1" aria-colcount="${page.shown.length + 1}"><colgroup><col class="w0">${format.places.map((at) => markup`<col class="${widths[at] ?? ""}${columns[at]!.name === pinned && " p"}">`)}</colgroup>
<thead><tr><th class="o"><span class="hide">${words.open}</span></th>${format.places.map((place, at) => heading(frame, bar, columns[place]!, first + at, columns[place]!.name === pinned))}</tr>${rows.length > 0 && picturesRow(frame, data, page)}</thead>
<tbody>
${new Html(rows.map((row) => rowLine(row, format)).join("\n"))}
</tbody></table>${rows.length === 0 && noRows(frame, bar)}</div>
<div class="foot"><span>${cursor !== undefined && markup`<a href="${withQuery(path, [...firstPage(pairs), ...inPart])}">↑ ${words.firstPage}</a>`}</span>
<span class="soft"><span id="count" data-forms="${JSON.stringify(words.rowForms)}"${cursor === undefined && markup` data-all="${words.inAll}"`}>${rows.length > 0 && words.shown(rows.length, nextCursor !== null || cursor !== undefined)}</span>${nextCursor !== null && markup`<span data-total> · <span id="total"><a href="${withQuery(`${path}/count`, firstPage(pairs))}" data-into="total">${words.count}</a></span></span>`}</span>
<span id="sum" class="soft" role="status" data-link="${frame.words.sums.link}"></span><span>${nextCursor !== null && markup`<a rel="next" href="${withQuery(path, [...firstPage(pairs), ...inPart, ["cursor", nextCursor]])}">${words.nextPage} →</a>`}</span></div>
<div class="menu" popover id="column-menu"></div>`
}

/** The place of the columns' pictures: they load after the rows, or on request if they could run a view's code. */
const picturesRow = (
  frame: Frame,
  { table, pairs }: TableData,
  { shown, part }: NonNullable<TableData["page"]>,
): Html => {
  const { schema, name } = table.detail
  const columns = part === null ? shown : shown.slice(part.from, part.to)
  const inPart: Pairs = part === null ? [] : [[PART, String(part.part)]]
  const href = withQuery(`${tablePath(frame, schema, name)}/pictures`, [...firstPage(pairs), ...inPart])
  const comesBySelf = mayDraw({ table, params: pairs, columns }) && new Html(" data-now")
  return markup`<tr id="pictures"><td class="o"></td><td colspan="${columns.length}"><a href="${href}" data-into="pictures"${comesBySelf}>${frame.words.table.pictures}</a></td></tr>`
}

const noRows = (frame: Frame, bar: ToolbarData): Html => {
  const { table: words } = frame.words
  const narrowed = chips(frame, bar)
  return narrowed === null
    ? markup`<div class="empty"><h2>${words.noRows}</h2><p>${words.noRowsHint}</p></div>`
    : markup`<div class="empty"><h2>${words.noMatch}</h2><p>${words.noMatchHint}</p>${narrowed}</div>`
}
