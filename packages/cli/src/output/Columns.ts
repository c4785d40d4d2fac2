/** Rows of cells, aligned for people. Cells are text from anywhere: they are made safe here. */
import { plainText } from "./PlainText.ts"
import type { Style } from "./Style.ts"

/** Where a line ends: the terminal's width, or none where nobody looks. */
export const lineWidth = (): number => (process.stdout.isTTY ? (process.stdout.columns ?? 80) : Infinity)

const WIDE =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}|[\uff01-\uff60]/u
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u

/** How many places of a terminal the text takes. */
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
const WIDEST = 60
const GAP = "  "

/** A head and its rows, or the words that stand for none. The last column takes what is left of the line. */
export const columns = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  { style, none, width = lineWidth() }: { readonly style: Style; readonly none: string; readonly width?: number },
): string => {
  if (rows.length === 0) return style.dim(none)
  const last = head.length - 1
  const safe = rows.map((row) => row.map(plainText))
  const widths = head.map((name, at) =>
    Math.min(
      WIDEST,
      safe.reduce((most, row) => Math.max(most, widthOf(row[at] ?? "")), widthOf(name)),
    ),
  )
  const room = width - widths.slice(0, last).reduce((sum, each) => sum + each + GAP.length, 0)
  widths[last] = room === Infinity ? Infinity : Math.max(12, room)
  const line = (cells: ReadonlyArray<string>) =>
    cells
      .map((cell, at) => (at === last ? cut(cell, widths[at]!) : pad(cut(cell, widths[at]!), widths[at]!)))
      .join(GAP)
      .trimEnd()
  return [style.bold(line(head)), ...safe.map(line)].join("\n")
}

/** Names and their values, one a line: for one object. */
export const card = (entries: ReadonlyArray<readonly [name: string, value: string]>, style: Style): string => {
  const widest = entries.reduce((most, [name]) => Math.max(most, widthOf(name)), 0)
  return entries.map(([name, value]) => `${style.dim(pad(name, widest))}${GAP}${plainText(value)}`).join("\n")
}
