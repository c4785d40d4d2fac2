/**
 * A long text in pieces, which reads and is copied as one. Chromium's time for the lines of one text grows with the square of
 * its changes of font: 40,000 pictures between words as one text take minutes, in pieces half a second. Each piece is isolated:
 * otherwise one U+202E makes the rest one run of reversed text, which takes minutes again and reads backwards.
 */
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"

const PIECE_CHARACTERS = 1_024

export const longText = (text: string): HtmlValue => {
  if (text.length <= PIECE_CHARACTERS) return text
  const pieces: Array<HtmlValue> = []
  for (let from = 0; from < text.length;) {
    const to = endOfPiece(text, from)
    pieces.push(markup`<bdi dir="ltr">${text.slice(from, to)}</bdi>`)
    from = to
  }
  return pieces
}

/** After a line, else after a word, so that letters that join are not parted; no character is cut in two. */
const endOfPiece = (text: string, from: number): number => {
  const to = from + PIECE_CHARACTERS
  if (to >= text.length) return text.length
  const piece = text.slice(from, to)
  const end = ["\n", " "].map((one) => piece.lastIndexOf(one) + 1).find((length) => length > PIECE_CHARACTERS / 2)
  if (end !== undefined) return from + end
  return (text.codePointAt(to - 1) ?? 0) > 0xff_ff ? to + 1 : to
}
