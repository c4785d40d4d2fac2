/** Rows as HTML, a line each: the first cell opens the row, the others hold a value each, as stored. */
import { escapeHtml } from "@data-cabinet/http-node/html/Html"
import type { ReadableColumn } from "@data-cabinet/core/row/Catalog"
import { cellTokens, shownText } from "@data-cabinet/core/row/CellTokens"
import type { TimeText } from "../html/Moment.ts"

/** Longer values are cut in the table; the open row shows them whole. */
export const CELL_CHARACTERS = 300

export interface RowFormat {
  /** The columns as read. */
  readonly columns: ReadonlyArray<ReadableColumn>
  /** The places of the shown ones among them. */
  readonly places: ReadonlyArray<number>
  /** The address of a row's own screen; null where rows have no key. */
  readonly rowPath: (tokens: ReadonlyArray<string>) => string | null
  readonly time: TimeText
  /** The column that stays in sight when the others scroll sideways; null for none. */
  readonly pinned: string | null
  /** The columns whose values are drawn as badges. */
  readonly badges: ReadonlySet<string>
  readonly words: { readonly open: string; readonly cut: string }
}

const cellClass = ({ type }: ReadableColumn): string => {
  if (type.kind === "number") return "n"
  return type.kind === "json" || type.kind === "jsonb" || type.kind === "array" || type.kind === "composite" ? "j" : ""
}

const cell = (token: string, column: ReadableColumn, { time, words, pinned, badges }: RowFormat): string => {
  const isPinned = column.name === pinned
  const open = (name: string, more = "") => {
    const all = isPinned ? `${name} p`.trim() : name
    return all === "" ? `<td${more}>` : `<td class="${all}"${more}>`
  }
  if (token === "null") return `${open("z")}</td>`
  const text = shownText(token)
  if (column.type.kind === "timestamptz") {
    return `<td><time datetime="${escapeHtml(text)}">${escapeHtml(time(text))}</time></td>`
  }
  if (text === "") return `${open("e")}</td>`
  const name = cellClass(column)
  if (text.length > CELL_CHARACTERS) {
    return `${open(name, ` data-cut title="${escapeHtml(words.cut)}"`)}${escapeHtml(text.slice(0, CELL_CHARACTERS).toWellFormed())}…</td>`
  }
  if (badges.has(column.name)) return `${open("")}<i>${escapeHtml(text)}</i></td>`
  return `${open(name)}${escapeHtml(text)}</td>`
}

/** One line of HTML; a value's own line ends are spaces in a table, and kept in the opened row. */
export const rowLine = (row: string, format: RowFormat): string => {
  const tokens = cellTokens(row)
  const path = format.rowPath(tokens)
  const open =
    path === null
      ? '<td class="o"></td>'
      : `<td class="o"><a href="${escapeHtml(path)}" tabindex="-1" aria-label="${escapeHtml(format.words.open)}">›</a></td>`
  const cells = format.places.map((at) => cell(tokens[at] ?? "null", format.columns[at]!, format)).join("")
  return `<tr>${open}${cells}</tr>`.replaceAll("\n", "&#10;")
}

const WIDTHS = [6, 8, 10, 13, 16, 20, 25, 32, 40, 46] as const

/** The class of a column's width, by its heading and the values of a page. */
export const widthClass = (heading: number, lengths: Iterable<number>): string => {
  let longest = heading
  for (const length of lengths) longest = Math.max(longest, length)
  return `w${WIDTHS.find((width) => width >= longest) ?? 46}`
}

/** From the first rows of the page: a sufficient sample, and the same for every page that the script adds. */
const LOOKED_AT = 50
const TIME_CHARACTERS = 19

export const widthsOf = (
  columns: ReadonlyArray<ReadableColumn>,
  labels: ReadonlyMap<string, string>,
  rows: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const looked = rows.slice(0, LOOKED_AT).map(cellTokens)
  return columns.map(({ name, type }, at) => {
    const label = (labels.get(name) ?? name).length + 5
    if (type.kind === "timestamptz") return widthClass(Math.min(label, 25), [TIME_CHARACTERS])
    // Digits are wider than the average letter.
    const most = type.kind === "number" ? 1.12 : 1
    return widthClass(
      Math.min(label, 25),
      looked.map((row) => Math.min((row[at]?.length ?? 0) * most, type.kind === "number" ? 46 : 40)),
    )
  })
}

/** The first column of texts, which says what a row is about. */
export const pinnedOf = (columns: ReadonlyArray<ReadableColumn>): string | null =>
  columns.length < 3 ? null : (columns.find(({ type }) => type.kind === "text")?.name ?? null)

const MAX_BADGES = 5
/** One or two words. */
const SHORT_WORDS = /^[\p{L}\p{N}][\p{L}\p{N}_.-]{0,19}(?: [\p{L}\p{N}_.-]{1,12})?$/u
const HAS_LETTER = /\p{L}/u

/** The columns of texts whose values on this page are few, short and repeated, such as states. */
export const badgesOf = (
  columns: ReadonlyArray<ReadableColumn>,
  rows: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const looked = rows.slice(0, LOOKED_AT).map(cellTokens)
  return columns.flatMap(({ name, type }, at) => {
    if (type.kind !== "text") return []
    const texts = looked.flatMap((row) => (row[at] === undefined || row[at] === "null" ? [] : [shownText(row[at])]))
    const values = new Set(texts)
    const isFew = values.size > 0 && values.size <= MAX_BADGES && texts.length >= 2 * values.size
    return isFew && [...values].every((text) => SHORT_WORDS.test(text) && HAS_LETTER.test(text)) ? [name] : []
  })
}
