/**
 * The values of a row as the tokens that the API sends, in the order of its columns. Nothing is parsed into a double, so
 * that a cell shows every stored digit.
 */

/** The value of each member of an object's text, as its own text. The text is our own: JSON without white space. */
export const cellTokens = (row: string): ReadonlyArray<string> => {
  const tokens: Array<string> = []
  let at = 1
  while (row.charCodeAt(at) === QUOTE) {
    const start = stringEnd(row, at) + 1
    at = valueEnd(row, start)
    tokens.push(row.slice(start, at))
    // After a comma.
    at++
  }
  return tokens
}

const QUOTE = 34
const BACKSLASH = 92

/** The end of the string that begins at this quote, exclusive. */
const stringEnd = (text: string, from: number): number => {
  // Found natively, since most strings hold no backslash in front of a quote.
  const first = text.indexOf('"', from + 1)
  if (text.charCodeAt(first - 1) !== BACKSLASH) return first + 1
  let at = from + 1
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    at += code === BACKSLASH ? 2 : 1
  }
}

const valueEnd = (text: string, from: number): number => {
  let at = from
  let depth = 0
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = stringEnd(text, at)
      continue
    }
    // { [ open, } ] close; a comma or a closing sign on the outermost level ends the value.
    if (code === 123 || code === 91) depth++
    else if (code === 125 || code === 93) {
      if (depth === 0) return at
      depth--
    } else if (code === 44 && depth === 0) return at
    at++
  }
}

/** The token as a person reads it: a string's own text, null as nothing, everything else unchanged. */
export const shownText = (token: string): string => {
  if (token.charCodeAt(0) !== QUOTE) return token === "null" ? "" : token
  return token.includes("\\") ? (JSON.parse(token) as string) : token.slice(1, -1)
}
