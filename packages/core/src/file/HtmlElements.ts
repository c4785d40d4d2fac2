/** Elements of a page that matter to its tables, and how far cells reach. */

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
