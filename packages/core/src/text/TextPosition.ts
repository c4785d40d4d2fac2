/** Locates an offset in a text, the way an editor shows it. */

export interface TextPosition {
  /** From 0, in UTF-16 code units (as JavaScript counts), not counting a byte order mark. */
  readonly offset: number
  /** From 1; a line ends with `\n`, `\r\n` or `\r`. */
  readonly line: number
  /** From 1, in UTF-16 code units. */
  readonly column: number
}

/** Counts lines only on demand, so that text without errors costs nothing. */
export const textPosition = (text: string, offset: number): TextPosition => {
  let line = 1
  let lineStart = 0
  for (let at = 0; at < offset; at++) {
    const code = text.charCodeAt(at)
    if (code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10)) {
      line++
      lineStart = at + 1
    }
  }
  return { offset, line, column: offset - lineStart + 1 }
}

/** "line 2, column 5 (offset 17)" */
export const positionInWords = (position: TextPosition): string =>
  `line ${position.line}, column ${position.column} (offset ${position.offset})`
