/**
 * A long text in pieces, which reads and is copied as one. Chromium's time for the lines of one text grows with the square of
 * its changes of font: 40,000 emoji between words as one text take minutes, in pieces half a second. Each piece is isolated:
 * otherwise one U+202E makes the rest one run of reversed text, which takes minutes again and reads backwards.
 *
 * The lines of a text are laid out again, from its beginning, whenever more of the page arrives: a megabyte of Arabic took
 * minutes on a slow connection. A very long text is therefore in chunks, each with lines of its own.
 */
import { type HtmlValue, markup, type Html } from "@data-cabinet/http-node/html/Html"
import type { Words } from "../words/Words.ts"

const PIECE_CHARACTERS = 1_024
const CHUNK_CHARACTERS = 16_384
/** Longer than any original request that is kept, which shows all line breaks and no others. */
const UNCHUNKED_CHARACTERS = 65_536

export const longText = (text: string): HtmlValue => {
  if (text.length <= PIECE_CHARACTERS) return text
  if (text.length <= UNCHUNKED_CHARACTERS) return pieces(text)
  return cut(text, CHUNK_CHARACTERS).map((chunk) => markup`<span class="chunk">${pieces(chunk)}</span>`)
}

const pieces = (text: string): HtmlValue =>
  cut(text, PIECE_CHARACTERS).map((piece) => markup`<bdi dir="ltr">${piece}</bdi>`)

const cut = (text: string, most: number): ReadonlyArray<string> => {
  const parts: Array<string> = []
  for (let from = 0; from < text.length;) {
    const to = endOfPart(text, from, most)
    parts.push(text.slice(from, to))
    from = to
  }
  return parts
}

/** After a line, else after a word, so that letters that join are not parted; no character is cut in two. */
const endOfPart = (text: string, from: number, most: number): number => {
  const to = from + most
  if (to >= text.length) return text.length
  const part = text.slice(from, to)
  const end = ["\n", " "].map((one) => part.lastIndexOf(one) + 1).find((length) => length > most / 2)
  if (end !== undefined) return from + end
  return (text.codePointAt(to - 1) ?? 0) > 0xff_ff ? to + 1 : to
}

/** What a line of a list and a heading have room for. */
const SHORT_CHARACTERS = 96

/** A long name or URL by its beginning and its end, which tell it from others. */
export const shortText = (text: string, most = SHORT_CHARACTERS): string => {
  if (text.length <= most) return text
  const half = Math.floor(most / 2)
  return `${text.slice(0, half).toWellFormed()}…${text.slice(-half).toWellFormed()}`
}

/** The same with the whole text as its title. */
export const shortName = (text: string): HtmlValue =>
  text.length <= SHORT_CHARACTERS ? text : markup`<bdi title="${text}">${shortText(text)}</bdi>`

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
