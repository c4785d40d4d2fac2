/**
 * Finds the values of a member in the text of JSON objects, by their places. It does not use `JsonScanner`, which refuses
 * text that is not JSON: a token must be found in a damaged body as well. Nothing here throws.
 */

/** A range of a text, as offsets; `end` is exclusive. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** The byte order mark of UTF-8. */
const BOM = "\xef\xbb\xbf"

const SPACE = /[\t\n\r ]/

/**
 * The places of the texts and numbers at this path: of an object, of each object of a list, and of each of several values
 * in a row, such as lines. Each character of the text is a byte of UTF-8; each step of the path is the name of a member.
 */
export const jsonScalarsAt = (text: string, path: ReadonlyArray<string>): ReadonlyArray<TextRange> => {
  const found: Array<TextRange> = []
  for (let at = skipSpace(text, text.startsWith(BOM) ? BOM.length : 0); at < text.length;) {
    if (text[at] === "[") searchItems(text, at, path, found)
    else search(text, at, path, found)
    const end = valueEnd(text, at)
    if (end === at) break
    at = skipSpace(text, end)
  }
  return found
}

const searchItems = (text: string, from: number, path: ReadonlyArray<string>, found: Array<TextRange>): void => {
  for (let at = skipSpace(text, from + 1); at < text.length;) {
    search(text, at, path, found)
    const comma = skipSpace(text, valueEnd(text, at))
    if (text[comma] !== ",") return
    at = skipSpace(text, comma + 1)
  }
}

const skipSpace = (text: string, from: number): number => {
  let at = from
  while (at < text.length && SPACE.test(text[at]!)) at++
  return at
}

/** The end of the string that begins here, after its closing quote. */
const stringEnd = (text: string, from: number): number => {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

/** The end of the value that begins here. */
const valueEnd = (text: string, from: number): number => {
  if (text[from] === '"') return stringEnd(text, from)
  let at = from
  for (let depth = 0; at < text.length;) {
    const character = text[at]!
    if (character === '"') {
      at = stringEnd(text, at)
      continue
    }
    if (character === "{" || character === "[") depth++
    else if (character === "}" || character === "]") {
      if (depth === 0) return at
      depth--
      if (depth === 0) return at + 1
    } else if (depth === 0 && (character === "," || SPACE.test(character))) return at
    at++
  }
  return at
}

const search = (text: string, from: number, path: ReadonlyArray<string>, found: Array<TextRange>): void => {
  const [step, ...rest] = path
  if (text[from] !== "{") return
  for (let at = skipSpace(text, from + 1); text[at] === '"';) {
    const keyEnd = stringEnd(text, at)
    const isStep = nameOf(text.slice(at, keyEnd)) === step
    const colon = skipSpace(text, keyEnd)
    if (text[colon] !== ":") return
    const start = skipSpace(text, colon + 1)
    const end = valueEnd(text, start)
    if (isStep) {
      if (rest.length > 0) search(text, start, rest, found)
      else if (/["\d-]/.test(text[start] ?? "")) found.push({ start, end })
    }
    const comma = skipSpace(text, end)
    if (text[comma] !== ",") return
    at = skipSpace(text, comma + 1)
  }
}

const nameOf = (quoted: string): string | null => {
  try {
    return JSON.parse(Buffer.from(quoted, "latin1").toString("utf8")) as string
  } catch {
    return null
  }
}
