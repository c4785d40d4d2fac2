/**
 * A long text in pieces, which reads and is copied as one. Chromium's time for the lines of one text grows with the square of
 * its changes of font: 40,000 pictures between words as one text take minutes, in pieces half a second.
 */
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"

const PIECE_CHARACTERS = 1_024

export const longText = (text: string): HtmlValue => {
  if (text.length <= PIECE_CHARACTERS) return text
  const pieces: Array<HtmlValue> = []
  for (let from = 0; from < text.length;) {
    const to = endOfPiece(text, from)
    pieces.push(markup`<span>${text.slice(from, to)}</span>`)
    from = to
  }
  return pieces
}

/** No character is cut in two. */
const endOfPiece = (text: string, from: number): number => {
  const to = from + PIECE_CHARACTERS
  return (text.codePointAt(to - 1) ?? 0) > 0xff_ff ? to + 1 : to
}
