/** The notation of numbers and days in a file or a text column: two choices, each of which may stay open. */
import { DATE_NOTATIONS, type Notation, NUMBER_NOTATIONS } from "@data-cabinet/core/row/Notation"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { options } from "./Choice.ts"
import type { Frame } from "./Shell.ts"

/** The fields `numbers` and `dates`. */
export const notationChoice = (frame: Frame, { numbers, dates }: Notation): Html => {
  const { notation: words } = frame.words
  const choice = (name: keyof Notation, all: ReadonlyArray<string>, chosen = "") =>
    markup`<label>${words[name]}<select name="${name}">${options([["", words.none], ...all.map((one) => [one, words.examples[one] ?? one] as const)], chosen)}</select></label>`
  return markup`<div class="row wrap ends">${choice("numbers", NUMBER_NOTATIONS, numbers)}${choice("dates", DATE_NOTATIONS, dates)}</div>`
}

/** The chosen notation; an empty choice is left out. */
export const notationIn = (value: (name: string) => string | null | undefined): Notation => ({
  numbers: NUMBER_NOTATIONS.find((one) => one === value("numbers")),
  dates: DATE_NOTATIONS.find((one) => one === value("dates")),
})
