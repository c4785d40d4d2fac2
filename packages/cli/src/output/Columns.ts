/** Rows of cells, aligned for people. Cells may hold text from any origin: it is made safe here. */
import { counted } from "@data-cabinet/core/text/Counted"
import { plainText } from "./PlainText.ts"
import type { Style } from "./Style.ts"

/** The width of a line: the terminal's, or none without a terminal. */
export const lineWidth = (): number => (process.stdout.isTTY ? (process.stdout.columns ?? 80) : Infinity)

const WIDE =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}|[\uff01-\uff60]/u
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u

/** How many cells of a terminal the text occupies. */
export const widthOf = (text: string): number => {
  // Most cells are plain ASCII.
  // oxlint-disable-next-line no-control-regex
  if (/^[\u0000-\u007f]*$/.test(text)) return text.length
  let width = 0
  for (const char of text) width += NO_WIDTH.test(char) ? 0 : WIDE.test(char) ? 2 : 1
  return width
}

const cut = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let kept = ""
  for (const char of text) {
    if (widthOf(kept + char) > width - 1) break
    kept += char
  }
  return `${kept}…`
}

const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)))

/** No column but the last is wider than this, so that one long value does not push all others away. */
const MAX_WIDTH = 60
const GAP = "  "

/** The least useful width of a column. */
const MIN_WIDTH = 8

const total = (widths: ReadonlyArray<number>): number =>
  widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1))

const greatest = (widths: ReadonlyArray<number>): number => widths.reduce((most, width) => Math.max(most, width), 0)

/** Column widths that fit a line: the widest columns shrink first; if there are too many, the last ones are left out. */
const fitted = (natural: ReadonlyArray<number>, width: number): ReadonlyArray<number> => {
  const widths = [...natural]
  while (total(widths) > width) {
    const widest = greatest(widths)
    if (widest > MIN_WIDTH) {
      const next = Math.max(MIN_WIDTH, greatest(widths.filter((each) => each < widest)))
      const many = widths.filter((each) => each === widest).length
      const shrunk = Math.max(next, widest - Math.ceil((total(widths) - width) / many))
      for (const [at, each] of widths.entries()) if (each === widest) widths[at] = shrunk
    } else if (widths.length > 1) widths.pop()
    else break
  }
  return widths
}

/**
 * A header and its rows, or the text for no rows. No line is wider than the terminal; columns that do not fit are counted
 * below.
 */
export const columns = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  { style, none, width = lineWidth() }: { readonly style: Style; readonly none: string; readonly width?: number },
): string => {
  if (rows.length === 0) return style.dim(none)
  const last = head.length - 1
  const safe = rows.map((row) => row.map(plainText))
  const natural = head.map((name, at) => {
    const widest = safe.reduce((most, row) => Math.max(most, widthOf(row[at] ?? "")), widthOf(name))
    return at === last && width === Infinity
      ? widest
      : Math.min(at === last ? Math.max(MAX_WIDTH, width) : MAX_WIDTH, widest)
  })
  const widths = fitted(natural, width)
  const line = (cells: ReadonlyArray<string>) =>
    widths
      .map((each, at) => {
        const cell = cells[at] ?? ""
        return at === last ? cut(cell, each) : pad(cut(cell, each), each)
      })
      .join(GAP)
      .trimEnd()
  const left = head.length - widths.length
  const note = `${counted(left, "column does", "columns do")} not fit here: use --json to see all.`
  return [style.bold(line(head)), ...safe.map(line), ...(left === 0 ? [] : [style.dim(note)])].join("\n")
}

/** Names and their values, one per line: for a single object. */
export const card = (entries: ReadonlyArray<readonly [name: string, value: string]>, style: Style): string => {
  const widest = entries.reduce((most, [name]) => Math.max(most, widthOf(name)), 0)
  return entries.map(([name, value]) => `${style.dim(pad(name, widest))}${GAP}${plainText(value)}`).join("\n")
}
