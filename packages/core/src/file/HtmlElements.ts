/** Elements of a page that matter to its tables, how far cells reach, and the text of a cell. */

/** Elements whose content is not shown. */
export const HIDDEN: ReadonlySet<string> = new Set(["script", "style", "template", "title", "noscript"])
/** Elements that begin a line. */
export const BLOCKS: ReadonlySet<string> = new Set(["br", "p", "div", "li", "h1", "h2", "h3", "h4"])
/** Parts of a table. */
export const SECTIONS: ReadonlySet<string> = new Set(["thead", "tbody", "tfoot"])

const MAX_COLUMN_SPAN = 1_000
const MAX_ROW_SPAN = 65_534

const spanOf = (value: string | undefined, most: number, zero: number): number => {
  const span = Number(/^\s*(\d{1,9})/.exec(value ?? "")?.[1] ?? 1)
  return span === 0 ? zero : Math.min(span, most)
}

/** How many columns a cell covers, by its attribute `colspan`. */
export const columnSpan = (value: string | undefined): number => spanOf(value, MAX_COLUMN_SPAN, 1)

/** How many rows a cell covers, by its attribute `rowspan`; 0 means all that follow. */
export const rowSpan = (value: string | undefined): number => spanOf(value, MAX_ROW_SPAN, MAX_ROW_SPAN)

/** The text of a cell, as a browser shows it: white space within a line is one space; lines without text at the beginning and the end are left out. */
export const shownText = (lines: ReadonlyArray<string>): string => {
  const text = lines
    .map((line) => (line === "" ? "" : line.replaceAll(/[\t\n\f\r ]+/g, " ").replaceAll(/^ | $/g, "")))
    .join("\n")
    .replaceAll(/^\n+/g, "")
  let end = text.length
  while (text[end - 1] === "\n") end--
  const shown = text.slice(0, end)
  return shown.replaceAll("\u00a0", "") === "" ? "" : shown
}
