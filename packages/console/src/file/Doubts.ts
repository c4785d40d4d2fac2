/** Shows the doubts about a file or a poll's response: values that were read, but deserve a look. */
import type { Doubt } from "@data-cabinet/core/file/Doubt"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import type { Frame } from "../html/Shell.ts"

const placesOf = ({ words: { file: words } }: Frame, { count, places }: Doubt): Html =>
  places.length === 0
    ? markup``
    : markup`${places.map(({ line, column }) => words.line(line, column)).join("; ")}${count > places.length && "; …"}`

/** Each with its first places; nothing without doubts. */
export const doubtTable = (frame: Frame, doubts: ReadonlyArray<Doubt>): HtmlValue => {
  const { file: words } = frame.words
  if (doubts.length === 0) return null
  const lines = doubts.map(
    (doubt) =>
      markup`<tr><th scope="row">${words.doubts[doubt.kind](doubt.count)}</th><td>${placesOf(frame, doubt)}</td></tr>`,
  )
  return markup`<p>${words.doubtful}</p><table class="list">${lines}</table>`
}

/** The same as lines below the outcome of a run. */
export const doubtLines = (frame: Frame, doubts: ReadonlyArray<Doubt>): ReadonlyArray<Html> =>
  doubts.map(
    (doubt) => markup`<small>${frame.words.file.doubts[doubt.kind](doubt.count)} (${placesOf(frame, doubt)})</small>`,
  )
