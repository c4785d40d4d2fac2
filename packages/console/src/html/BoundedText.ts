/**
 * A text in full, of which a long one shows its first lines until it is opened. All of it is in the page: it can be searched and
 * copied, and opens without a script.
 */
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import type { Words } from "../words/Words.ts"
import { longText } from "./LongText.ts"

/** The style shows about as many. */
const SHOWN_CHARACTERS = 2_048

const LINE_ENDS = /\n/g
const SHOWN_LINES = 24

const isLong = (text: string): boolean =>
  text.length > SHOWN_CHARACTERS || (text.match(LINE_ENDS)?.length ?? 0) > SHOWN_LINES

/** `kind`: more classes. `id`: of the element whose whole text is the value. */
export const boundedText = (words: Words, text: string, kind: string, id?: string): Html => {
  const named = id !== undefined && markup` id="${id}"`
  const isCut = isLong(text)
  const classes = ["value", isCut ? "cut" : "", text === "" ? "e" : "", kind].filter((one) => one !== "").join(" ")
  if (!isCut) return markup`<span class="${classes}"${named}>${text}</span>`
  return markup`<span class="${classes}"${named}>${longText(text)}</span><details class="all"><summary>${words.showAll(text.length)}</summary></details>`
}
