/**
 * Parses `value; name=value; name="value"` headers (Content-Type, Content-Disposition) leniently, as senders write them: a
 * malformed parameter is skipped and the rest of the header is still read.
 */

/** A parameter of a header. */
export interface HeaderParam {
  /** In lower case, including a trailing `*`. */
  readonly name: string
  /** Offsets in the header. A quoted value lies between the quotes; its escapes are not undone. */
  readonly start: number
  readonly end: number
  readonly quoted: boolean
}

export interface HeaderValue {
  /** The part before the parameters, in lower case. */
  readonly value: string
  /** If a name occurs twice, the first parameter counts. */
  readonly params: ReadonlyMap<string, HeaderParam>
}

/** Accepts any text; offsets refer to `text`. */
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

/** A parameter's text with the escapes `\"` and `\\` undone. */
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

/** A backslash before the last quote can also be the end of a Windows path; in that case the quote closes the value. */
const closingQuote = (text: string, from: number): number => {
  let at = from
  while (at < text.length && text[at] !== '"') {
    at += text[at] === "\\" && (text[at + 1] === '"' || text[at + 1] === "\\") ? 2 : 1
  }
  if (at < text.length) return at
  const last = text.lastIndexOf('"')
  return last >= from ? last : text.length
}
