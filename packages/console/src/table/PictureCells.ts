/**
 * Pictures of columns as HTML. A bar is a link whose height is a class, so that pictures need neither a script nor an
 * inline style. The bars are links for the mouse; for the keyboard, the caption below links to the same as a list.
 */
import type { ReadableColumn } from "@data-cabinet/core/row/Catalog"
import type { ColumnPicture } from "@data-cabinet/core/selection/ColumnPicture"
import type { Pictures } from "@data-cabinet/core/selection/PictureColumns"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import type { Frame } from "../html/Shell.ts"
import { SIZES } from "../assets/Style.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { filtersOf, type ShownFilter, withFilters, withQuery } from "../screen/SelectionLinks.ts"
import { pinnedOf } from "./Cells.ts"
import { isolated } from "../words/IsolatedWords.ts"
import { tablePath } from "./TablePath.ts"
import { timeText } from "../html/Moment.ts"

export interface PictureData {
  readonly schema: string
  readonly name: string
  readonly columns: ReadonlyArray<ReadableColumn>
  readonly labels: ReadonlyMap<string, string>
  /** The selection, at its first page. */
  readonly pairs: Pairs
  readonly timeZone: string
  readonly pictures: Pictures
}

/** A part of a picture: what it shows, in how many rows, and the filters that find them. */
export interface Part {
  readonly text: string
  readonly rows: number
  /** Null if no filter finds them. */
  readonly href: string | null
  readonly isEmpty: boolean
}

const DRAWN_VALUES = 8
const VALUE_CHARACTERS = 80

const filtered = (frame: Frame, { schema, name, pairs }: PictureData, added: ReadonlyArray<ShownFilter>): string =>
  withQuery(tablePath(frame, schema, name), withFilters(pairs, [...filtersOf(pairs), ...added]))

/** A value that cannot move the numbers beside it. */
const shortened = (text: string): string => {
  const short = text.length <= VALUE_CHARACTERS ? text : `${text.slice(0, VALUE_CHARACTERS).toWellFormed()}…`
  return isolated(short)
}

const columnOf = ({ columns }: PictureData, { column }: ColumnPicture): ReadableColumn | undefined =>
  columns.find(({ name }) => name === column)

const textsOf = (data: PictureData, picture: ColumnPicture) => {
  const time = timeText(data.timeZone)
  const isTime = columnOf(data, picture)?.type.kind === "timestamptz"
  return (value: string) => (isTime ? time(value) : value)
}

const MIDNIGHTS = /^(\d{4}-\d\d-\d\d)[ T]00:00:00$/

/** The end is not part of it. */
const rangeText = (from: string, below: string): string => {
  const [day, next] = [MIDNIGHTS.exec(from)?.[1], MIDNIGHTS.exec(below)?.[1]]
  return day === undefined || next === undefined ? `${from} … < ${below}` : `${day} … < ${next}`
}

/** The bars or the values, and then the empty ones. */
export const partsOf = (frame: Frame, data: PictureData, picture: ColumnPicture): ReadonlyArray<Part> => {
  const { table: words } = frame.words
  const { column, bars, values, empty } = picture
  const text = textsOf(data, picture)
  const canFilter = columnOf(data, picture)?.type.operators !== null
  const link = (...added: ReadonlyArray<ShownFilter>) => (canFilter ? filtered(frame, data, added) : null)
  const shown = [
    ...bars.map(({ from, below, rows, isOne }) => ({
      text: isOne ? from : rangeText(text(from), text(below)),
      rows,
      href: isOne
        ? link({ column, condition: "eq", value: from })
        : link({ column, condition: "ge", value: from }, { column, condition: "lt", value: below }),
      isEmpty: false,
    })),
    ...values.map(({ value, rows }) => ({
      text: shortened(text(value)),
      rows,
      href: link({ column, condition: "eq", value }),
      isEmpty: false,
    })),
  ]
  if (empty === 0) return shown
  const href = filtered(frame, data, [{ column, condition: "empty", value: "" }])
  return [...shown, { text: words.empty, rows: empty, href, isEmpty: true }]
}

/** A share of the rows in percent; a small one is never shown as 0. */
export const percentOf = (frame: Frame, rows: number, all: number): string => {
  const { table: words } = frame.words
  const percent = (100 * rows) / Math.max(1, all)
  if (rows > 0 && percent < 1) return words.share("< 1")
  if (rows < all && percent > 99) return words.share("> 99")
  return words.share(String(Math.round(percent)))
}

const size = (rows: number, most: number): number => Math.max(1, Math.round((rows / Math.max(1, most)) * SIZES))

/** What the picture shows in a few words; `≈` says that it is not exact. */
export const captionOf = (frame: Frame, data: PictureData, picture: ColumnPicture): string => {
  const { table: words } = frame.words
  const { rows, empty, distinct, values, ends } = picture
  const text = textsOf(data, picture)
  const short = (value: string) => (/^\d{4}-\d\d-\d\d[ T]/.test(value) ? value.slice(0, 10) : value)
  const said: Array<string> = []
  const [top] = values
  if (rows > 0 && empty === rows) said.push(words.allEmpty)
  else if (ends !== null) said.push(`${short(text(ends[0]))} – ${short(text(ends[1]))}`)
  else if (top !== undefined) {
    said.push(`${shortened(text(top.value))} ${percentOf(frame, top.rows, rows)}`)
    if (distinct !== null && distinct > 1) said.push(words.few(distinct))
  } else if (distinct !== null) said.push(words.different(distinct))
  if (empty > 0 && empty < rows) said.push(`${words.empty} ${percentOf(frame, empty, rows)}`)
  return said.length === 0 ? "–" : `${data.pictures.basis === "all" ? "" : "≈ "}${said.join(" · ")}`
}

/** The drawing alone, without its numbers. */
export const drawing = (frame: Frame, data: PictureData, picture: ColumnPicture): Html => {
  const { bars, rows } = picture
  const parts = partsOf(frame, data, picture)
  const title = (part: Part) =>
    `${part.text}: ${data.pictures.basis === "all" ? "" : "≈ "}${frame.words.table.number(part.rows)} · ${percentOf(frame, part.rows, rows)}`
  const link = (part: Part, name: string): HtmlValue =>
    part.href === null || part.rows === 0
      ? markup`<i class="${name}" title="${title(part)}"></i>`
      : markup`<a class="${name}" href="${part.href}" title="${title(part)}" tabindex="-1"></a>`
  if (bars.length > 0) {
    const most = bars.reduce((high, bar) => Math.max(high, bar.rows), 1)
    const drawn = parts.slice(0, bars.length)
    return markup`<span class="bars" aria-hidden="true">${drawn.map((part) => link(part, part.rows === 0 ? "" : `h${size(part.rows, most)}`))}</span>`
  }
  const values = parts.filter(({ isEmpty }) => !isEmpty).slice(0, DRAWN_VALUES)
  const empty = parts.filter(({ isEmpty }) => isEmpty)
  const others = rows - [...values, ...empty].reduce((sum, part) => sum + part.rows, 0)
  // Less is a rounding of estimates.
  const rest = others > rows / 200 && markup`<i class="rest h${size(others, rows)}"></i>`
  return markup`<span class="segments" aria-hidden="true">${values.map((part) => link(part, `h${size(part.rows, rows)}`))}${rest}${empty.map((part) => link(part, `none h${size(part.rows, rows)}`))}</span>`
}

/** The name of a picture's own screen. */
export const pictureAddress = (frame: Frame, data: Pick<PictureData, "schema" | "name" | "pairs">, column: string) =>
  withQuery(`${tablePath(frame, data.schema, data.name)}/picture`, [["column", column], ...data.pairs])

/** Which rows all pictures are drawn from, in a sentence. */
export const basisText = (frame: Frame, { pictures, timeZone }: PictureData): string => {
  const { basis } = frame.words.table
  const { at, rows } = pictures
  if (pictures.basis !== "statistics") return basis[pictures.basis](rows)
  return basis.statistics(rows, at === null ? null : timeText(timeZone)(at))
}

/** The cells below the headings of these columns. */
export const pictureCells = (frame: Frame, data: PictureData): ReadonlyArray<Html> => {
  const { table: words } = frame.words
  const all = withQuery(`${tablePath(frame, data.schema, data.name)}/pictures`, data.pairs)
  const basis = basisText(frame, data)
  const sign = data.pictures.basis === "all" ? "=" : "≈"
  const first = markup`<td class="o"><a href="${all}" title="${basis}" aria-label="${words.pictures}. ${basis}">${sign}</a></td>`
  const pinned = pinnedOf(data.columns)
  const cell = ({ name }: ReadableColumn): Html => {
    const picture = data.pictures.columns.find(({ column }) => column === name)
    const open = new Html(name === pinned ? '<td class="p">' : "<td>")
    if (picture === undefined) return markup`${open}</td>`
    const caption = captionOf(frame, data, picture)
    const label = data.labels.get(name) ?? name
    return markup`${open}${drawing(frame, data, picture)}<a class="caption" href="${pictureAddress(frame, data, name)}" data-menu="column-menu" title="${caption}" aria-label="${words.pictureOf(label)}: ${caption}">${caption}</a></td>`
  }
  return [first, ...data.columns.map(cell)]
}
