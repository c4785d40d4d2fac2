/** A choice of one from a few, as a native select element. */
import { Html, markup } from "@data-cabinet/http-node/html/Html"
import { DATE_NOTATIONS, type Notation, NUMBER_NOTATIONS } from "@data-cabinet/core/row/Notation"
import type { Frame } from "./Shell.ts"

export type Option = readonly [value: string, text: string]

export const options = (all: ReadonlyArray<Option>, chosen: string): Html =>
  markup`${all.map(([value, text]) => markup`<option value="${value}"${value === chosen && new Html(" selected")}>${text}</option>`)}`

/** The fields `numbers` and `dates`, the notation in a file or a text column. Each may stay open. */
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
