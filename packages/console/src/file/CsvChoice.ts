/** How a separated file is written: two choices, each of which may be left open. */
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { options } from "../html/Choice.ts"
import type { Frame } from "../html/Shell.ts"

const DELIMITERS = [",", ";", "tab", "|", "none"]

/** The fields `delimiter` and `header_row`. */
export const csvChoice = (frame: Frame): Html => {
  const { file: words } = frame.words
  const named = DELIMITERS.map((one) => [one, words.delimiters[one] ?? one] as const)
  return markup`<div class="row wrap ends"><label>${words.delimiter}<select name="delimiter">${options([["", words.detected], ...named], "")}</select></label><label>${words.headerRow}<input name="header_row" type="number" min="1" placeholder="${words.detected}"></label></div>`
}

/** What was chosen; an empty choice says nothing. */
export const csvChoiceIn = (value: (name: string) => string | undefined) => ({
  delimiter: value("delimiter") || undefined,
  headerRow: value("header_row") ? Number(value("header_row")) : undefined,
})
