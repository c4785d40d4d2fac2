/**
 * Reads the head of a response as loosely as receivers write it, and hands the parser a head that keeps every rule. A
 * receiver that answered 2xx has the event: retrying because of a stray space would send it a second time, and a third.
 *
 * Only unambiguous faults are mended: lines that end in LF alone, informational responses, a length repeated, bytes
 * that are invalid in a header. A head whose framing is in doubt goes to the parser as it came, which refuses it; the
 * status is known all the same (`seen`). Two different lengths are the exception: they leave no status either.
 */
/** Header names in lower case; a header sent twice is a list. */
export type HeadHeaders = Record<string, string | Array<string>>

export interface SeenHead {
  readonly status: number
  readonly headers: HeadHeaders
}

/** Informational responses (1xx) before the final one that are dropped; further ones go to the parser. */
export const MAX_INFORMATIONAL = 16

const LF = 10
const CR = 13
const SPACE = 32
const TAB = 9
/** Enough of the beginning to see that it is not HTTP. */
const BEGINNING_BYTES = 64
const STATUS_LINE = /^HTTP\/(\d(?:\.\d)?)[ \t]+(\d{3})(?!\d)([^]*)/i
const BEGINNING = /^(?:H|HT|HTT|HTTP|HTTP\/[^]*)?$/i
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\0-\x08\n-\x1f\x7f]/g
const LENGTH = "content-length"
/** A final head that keeps every rule, as nearly all do: a line is a name, a colon, a space and printable characters. */
const STRICT = /^HTTP\/1\.1 [2-5]\d\d [ -~]*\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+: [!-~][ -~]*\r\n)*\r\n$/
const STRICT_LENGTH = /\ncontent-length: \d{1,15}\r\n/i
const ANY_LENGTH = /\ncontent-length:/gi

const isSpace = (code: number): boolean => code === SPACE || code === TAB || code === CR

/** Without the white space of HTTP at either end; what JavaScript trims besides is part of a letter in UTF-8. */
const trimmed = (text: string): string => {
  let [from, to] = [0, text.length]
  while (from < to && isSpace(text.charCodeAt(from))) from++
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

interface Field {
  readonly name: string
  value: string
}

/** The fields of a head, and whether every line was one. */
const fieldsOf = (lines: ReadonlyArray<string>) => {
  const fields: Array<Field> = []
  let isWhole = true
  for (const line of lines) {
    const value = trimmed(line)
    if (value === "") continue
    const colon = line.indexOf(":")
    const name = trimmed(line.slice(0, Math.max(0, colon)))
    const last = fields.at(-1)
    if (isSpace(line.charCodeAt(0)) && last !== undefined) last.value += ` ${value}`
    else if (NAME.test(name)) fields.push({ name, value: trimmed(line.slice(colon + 1)) })
    else isWhole = false
  }
  for (const field of fields) field.value = field.value.replace(FORBIDDEN, " ")
  return { fields, isWhole }
}

const headersOf = (fields: ReadonlyArray<Field>): HeadHeaders => {
  const headers = Object.create(null) as HeadHeaders
  for (const { name, value } of fields) {
    const key = name.toLowerCase()
    const before = headers[key]
    if (before === undefined) headers[key] = value
    else if (typeof before === "string") headers[key] = [before, value]
    else before.push(value)
  }
  return headers
}

/** Every length that a head names, be it in several fields or in one list. */
const lengthsOf = (fields: ReadonlyArray<Field>): ReadonlyArray<string> => {
  const named = fields.filter(({ name }) => name.toLowerCase() === LENGTH)
  const values = named.flatMap(({ value }) => value.split(",")).map(trimmed)
  return [...new Set(values.map((value) => (/^\d{1,15}$/.test(value) ? String(Number(value)) : value)))]
}

/** Whether the parser may have the head as it came. */
const isStrict = (head: string): boolean => {
  if (!STRICT.test(head)) return false
  const lengths = head.match(ANY_LENGTH)?.length ?? 0
  return lengths === 0 || (lengths === 1 && STRICT_LENGTH.test(head))
}

export class LooseHead {
  /** A head is awaited: bytes are held until it is whole. Otherwise they pass. */
  #isAwaited = false
  #held: Buffer | null = null
  /** How many of the held bytes were searched for the end of the head. */
  #searched = 0
  #informational = 0
  /** The head as it was when it went to the parser. */
  #passed: string | null = null
  readonly #maxBytes: number

  /** A longer head goes to the parser unread. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** A request is about to be written: the bytes that follow are its response. Earlier bytes are not, and pass. */
  await(): void {
    this.reset()
    this.#isAwaited = true
  }

  /** Nothing is awaited. */
  reset(): void {
    this.#isAwaited = false
    this.#held = null
    this.#searched = 0
    this.#informational = 0
    this.#passed = null
  }

  /** The bytes for the parser now: none until the head is complete. */
  push(bytes: Buffer): Buffer | null {
    if (!this.#isAwaited) return bytes
    let held = this.#held === null ? bytes : Buffer.concat([this.#held, bytes])
    for (;;) {
      held = withoutBlankLines(held)
      this.#held = held
      const end = this.#endOfHead(held)
      if (end === -1) return isHopeless(held, this.#maxBytes) ? this.#pass(held, this.#maxBytes) : null
      const head = held.toString("latin1", 0, end)
      if (isStrict(head)) return this.#pass(held, end)
      const [first, ...lines] = head.split("\n")
      const status = STATUS_LINE.exec(first!)
      if (status === null) return this.#pass(held, end)
      if (!status[2]!.startsWith("1")) return this.#pass(held, end, mended(status, lines))
      if (++this.#informational > MAX_INFORMATIONAL) return this.#pass(ONE_TOO_MANY, 0)
      held = held.subarray(end)
      this.#searched = 0
    }
  }

  /** The final status, as soon as it can be read, and the headers so far; null before that, or if no status counts. */
  seen(): SeenHead | null {
    const text = this.#passed ?? this.#held?.toString("latin1", 0, this.#maxBytes) ?? ""
    const [first, ...lines] = text.split("\n")
    const status = Number(STATUS_LINE.exec(first!)?.[2] ?? 0)
    if (status < 200) return null
    const { fields } = fieldsOf(lines)
    return lengthsOf(fields).length > 1 ? null : { status, headers: headersOf(fields) }
  }

  #pass(bytes: Buffer, end: number, head: string | null = null): Buffer {
    this.#isAwaited = false
    this.#held = null
    this.#passed = bytes.toString("latin1", 0, Math.min(end, bytes.length))
    return head === null ? bytes : Buffer.concat([Buffer.from(head, "latin1"), bytes.subarray(end)])
  }

  /** Behind the first blank line; -1 before one arrives. */
  #endOfHead(held: Buffer): number {
    for (let at = held.indexOf(LF, this.#searched); at !== -1; at = held.indexOf(LF, at + 1)) {
      this.#searched = at
      let next = at + 1
      while (held[next] === CR) next++
      if (held[next] === LF) return next + 1
    }
    return -1
  }
}

const ONE_TOO_MANY = Buffer.from("HTTP/1.1 103 \r\n\r\n")

const withoutBlankLines = (held: Buffer): Buffer => {
  let from = 0
  while (held[from] === CR || held[from] === LF) from++
  return from === 0 ? held : held.subarray(from)
}

/** It is too long, or no HTTP. */
const isHopeless = (held: Buffer, maxBytes: number): boolean => {
  if (held.length >= maxBytes) return true
  const [first, ...more] = held.toString("latin1", 0, BEGINNING_BYTES).split("\n")
  return more.length === 0 ? !BEGINNING.test(first!) : !STATUS_LINE.test(first!)
}

/** The head as the parser accepts it; null if it names several lengths. */
const mended = ([, version, status, rest]: RegExpExecArray, lines: ReadonlyArray<string>): string | null => {
  const { fields, isWhole } = fieldsOf(lines)
  const lengths = lengthsOf(fields)
  if (lengths.length > 1) return null
  const others = fields.filter(({ name }) => name.toLowerCase() !== LENGTH)
  const length = lengths.map((value) => ({ name: "Content-Length", value }))
  // A skipped header may have defined where the body ends.
  const close = isWhole ? [] : [{ name: "Connection", value: "close" }]
  const text = [...others, ...length, ...close].map(({ name, value }) => `${name}: ${value}\r\n`).join("")
  return `HTTP/${version === "1.1" ? "1.1" : "1.0"} ${status} ${trimmed(rest!).replace(FORBIDDEN, " ")}\r\n${text}\r\n`
}
