/** Where a file's table is and how it is separated: choices that may each be left open. */
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { options } from "../html/Choice.ts"
import type { Frame } from "../html/Shell.ts"

const DELIMITERS = [",", ";", "tab", "|", "none"]

/** The fields `delimiter`, `header_row` and `sheet`. */
export const csvChoice = (frame: Frame): Html => {
  const { file: words } = frame.words
  const named = DELIMITERS.map((one) => [one, words.delimiters[one] ?? one] as const)
  return markup`<div class="row wrap ends"><label>${words.delimiter}<select name="delimiter">${options([["", words.detected], ...named], "")}</select></label><label>${words.headerRow}<input name="header_row" type="number" min="1" placeholder="${words.detected}"></label><label>${words.sheet}<input name="sheet" maxlength="200" placeholder="${words.firstSheet}" autocomplete="off"></label></div>`
}

/** The chosen options; an empty choice is left out. */
export const csvChoiceIn = (value: (name: string) => string | undefined) => ({
  delimiter: value("delimiter") || undefined,
  headerRow: value("header_row") ? Number(value("header_row")) : undefined,
  sheet: value("sheet") || undefined,
})
