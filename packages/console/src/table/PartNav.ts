/** The navigation between the parts of a wide table's columns. */
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import type { Frame } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { type ColumnPart, PART } from "./ColumnPart.ts"
import { withQuery } from "../screen/SelectionLinks.ts"

interface PartData {
  readonly path: string
  readonly pairs: Pairs
  readonly part: ColumnPart
  readonly total: number
}

/** The ways to the columns before and after these; the rows stay the same. */
export const partNav = (frame: Frame, { path, pairs, part: { part, parts, from, to }, total }: PartData): Html => {
  const { table: words } = frame.words
  const link = (to_: number, text: HtmlValue, rel: string) =>
    markup`<a rel="${rel}" href="${withQuery(path, [...pairs, [PART, String(to_)]])}">${text}</a>`
  return markup`<nav class="note row parts" aria-label="${words.columns}"><span class="soft">${words.part(from + 1, to, total)}</span>${part > 1 && link(part - 1, markup`← ${words.partBefore}`, "prev")}${part < parts && link(part + 1, markup`${words.partAfter} →`, "section")}</nav>`
}
