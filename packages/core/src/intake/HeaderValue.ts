/**
 * Reads `value; name=value; name="value"` headers, Content-Type and Content-Disposition, the way senders write them:
 * what is malformed is passed over instead of costing the rest of the header.
 */

export interface HeaderParam {
  /** Lower case, with its `*` if it has one. */
  readonly name: string
  /** Between the quotes where it is quoted; escapes untouched. Places are indexes in the header. */
  readonly start: number
  readonly end: number
  readonly quoted: boolean
}

export interface HeaderValue {
  /** What stands before the parameters, lower case. */
  readonly value: string
  /** The first of each name counts. */
  readonly params: ReadonlyMap<string, HeaderParam>
}

/** Works on any text; places point into `text`. */
export const parseHeaderValue = (text: string): HeaderValue => {
  const params = new Map<string, HeaderParam>()
  const end = text.length
  let at = endOf(text, 0)
  const value = text.slice(0, at).trim().toLowerCase()
  while (at < end) {
    at = afterSpace(text, at + 1)
    const nameStart = at
    while (at < end && text[at] !== "=" && text[at] !== ";") at++
    const name = text.slice(nameStart, at).trim().toLowerCase()
    if (text[at] !== "=") continue
    at = afterSpace(text, at + 1)
    let param: HeaderParam
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1)
      param = { name, start: at + 1, end: close, quoted: true }
      at = endOf(text, close)
    } else {
      const start = at
      at = endOf(text, start)
      param = { name, start, end: start + text.slice(start, at).trimEnd().length, quoted: false }
    }
    if (!params.has(name)) params.set(name, param)
  }
  return { value, params }
}

/** A parameter's text with `\"` and `\\` undone. */
export const paramText = (text: string, param: HeaderParam | undefined): string | null =>
  param === undefined
    ? null
    : param.quoted
      ? text.slice(param.start, param.end).replace(/\\(["\\])/g, "$1")
      : text.slice(param.start, param.end)

const endOf = (text: string, from: number): number => {
  const semicolon = text.indexOf(";", from)
  return semicolon === -1 ? text.length : semicolon
}

const afterSpace = (text: string, from: number): number => {
  let at = from
  while (text[at] === " " || text[at] === "\t" || text[at] === "\r" || text[at] === "\n") at++
  return at
}

/** A backslash before the last quote may also be the end of a Windows path; then that quote closes. */
const closingQuote = (text: string, from: number): number => {
  let at = from
  while (at < text.length && text[at] !== '"') {
    at += text[at] === "\\" && (text[at + 1] === '"' || text[at + 1] === "\\") ? 2 : 1
  }
  if (at < text.length) return at
  const last = text.lastIndexOf('"')
  return last >= from ? last : text.length
}
