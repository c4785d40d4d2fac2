/**
 * A long text in pieces, which reads and is copied as one. Chromium's time for the lines of one text grows with the square of
 * its changes of font: 40,000 emoji between words as one text take minutes, in pieces half a second. Each piece is isolated:
 * otherwise one U+202E makes the rest one run of reversed text, which takes minutes again and reads backwards.
 *
 * The lines of a text are laid out again, from its beginning, whenever more of the page arrives: a megabyte of Arabic took
 * minutes on a slow connection. A very long text is therefore in chunks, each with lines of its own.
 */
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"

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
