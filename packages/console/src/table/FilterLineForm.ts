/** The filters of a table as a line of text: its field, its form, and what is wrong with a line. */
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { ICONS } from "../html/Icons.ts"
import type { Frame } from "../html/Shell.ts"
import { WHOLE_COLUMNS } from "./ColumnPart.ts"
import type { LineError } from "./FilterLineScanner.ts"
import { columnText, lineOf } from "./FilterLineText.ts"
import { filtersOf, firstPage } from "../screen/SelectionLinks.ts"
import type { ToolbarData } from "./TableToolbar.ts"
import { tablePath } from "./TablePath.ts"

/** The name of its field. */
export const LINE = "line"

const FORM = "filter-line"
const COLUMNS = "line-columns"

export const linePath = (frame: Frame, { schema, name }: Pick<ToolbarData, "schema" | "name">): string =>
  `${tablePath(frame, schema, name)}/filter`

/** The field stands among those of the table's form, but belongs to its own: either changes the filters alone. */
export const lineField = (frame: Frame, data: ToolbarData): Html => {
  const { filterLine: words } = frame.words
  return markup`<label class="field">${ICONS.filter}<input name="${LINE}" form="${FORM}" list="${COLUMNS}" value="${lineOf(filtersOf(data.pairs), words)}" aria-label="${words.label}" placeholder="${words.example}" autocomplete="off" autocapitalize="none" spellcheck="false"></label>${columnList(data)}`
}

/** The completions of the field; none for a wide table, which has too many columns. */
const columnList = ({ columns, labels }: ToolbarData): HtmlValue => {
  if (columns.length > WHOLE_COLUMNS) return null
  const option = ({ name }: (typeof columns)[number]) =>
    markup`<option value="${columnText(name)}"${labels.get(name) !== name && markup` label="${labels.get(name) ?? name}"`}></option>`
  return markup`<datalist id="${COLUMNS}">${columns.map(option)}</datalist>`
}

/** Keeps the rest of the selection. */
export const lineForm = (frame: Frame, data: ToolbarData): Html => {
  const hidden = firstPage(data.pairs).map(
    ([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`,
  )
  return markup`<form id="${FORM}" method="get" action="${linePath(frame, data)}" hidden>${hidden}</form>`
}

const CONTEXT = 24

/** Characters as people count them. */
const countOf = (text: string): number => Array.from(new Intl.Segmenter().segment(text)).length

/** The fault in words, with the text around its place. */
export const lineFault = (frame: Frame, line: string, { fault, at }: LineError): Html => {
  const { filterLine: words } = frame.words
  const isEnd = line.slice(at).trim() === ""
  const place = isEnd ? words.atEnd : words.at(countOf(line.slice(0, at)) + 1)
  const from = Math.max(0, at - CONTEXT)
  const context = markup` <code>${from > 0 && "…"}${line.slice(from, at)}<mark>${line.slice(at, at + CONTEXT)}</mark></code>`
  return markup`${place} ${words.faults[fault]}${!isEnd && context}`
}
