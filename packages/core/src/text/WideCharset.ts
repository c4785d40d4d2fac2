/**
 * Recognizes UTF-16 and UTF-32 by a byte order mark, or by the zero bytes in every line break, delimiter and digit.
 * Text in any other encoding has hardly any.
 */

export interface WideCharset {
  readonly name: string
  readonly codec: string
  /** Bytes of one unit. */
  readonly unit: 2 | 4
}

/** UTF-16 with the low byte first. */
export const UTF_16LE: WideCharset = { name: "utf-16le", codec: "utf-16le", unit: 2 }
/** UTF-16 with the high byte first. */
export const UTF_16BE: WideCharset = { name: "utf-16be", codec: "utf-16be", unit: 2 }
/** UTF-32 with the low byte first. */
export const UTF_32LE: WideCharset = { name: "utf-32le", codec: "utf-32le", unit: 4 }
/** UTF-32 with the high byte first. */
export const UTF_32BE: WideCharset = { name: "utf-32be", codec: "utf-32be", unit: 4 }

/** The charset that a byte order mark declares. */
export const markedWide = (head: Uint8Array): WideCharset | null => {
  const [a, b, c, d] = head
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? UTF_32LE : UTF_16LE
  if (a === 0xfe && b === 0xff) return UTF_16BE
  return a === 0 && b === 0 && c === 0xfe && d === 0xff ? UTF_32BE : null
}

/** The least share of characters that must be ASCII: line breaks, delimiters, digits. */
const LEAST_ASCII = 0.02

const isText = (code: number): boolean => code >= 32 || code === 9 || code === 10 || code === 13
const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff

/** The number of ASCII characters if the units are text; -1 if they are not. */
const asciiOf = (units: number, at: (n: number) => number): number => {
  let ascii = 0
  for (let n = 0; n < units; n++) {
    const code = at(n)
    if (!isText(code) || code > 0x10ffff || code === 0xfffe || code === 0xffff) return -1
    if (code < 128) ascii++
    else if (code < 0x10000 && code > 0xdbff && isSurrogate(code)) {
      // A low surrogate follows a high one.
      const before = n === 0 ? 0 : at(n - 1)
      if (before < 0xd800 || before > 0xdbff) return -1
    }
  }
  return ascii
}

/** Whether these are bytes of a single-byte text or of UTF-8. */
export const isMostlyNarrow = (head: Buffer): boolean => {
  let zeros = 0
  let controls = 0
  for (const byte of head) {
    if (byte === 0) zeros++
    else if (!isText(byte)) controls++
  }
  return zeros * 5 <= head.length && controls * 50 < head.length
}

/**
 * Whether every line break has its zero byte: a short text in Chinese or Japanese has hardly any other zeros. An even byte
 * begins a unit.
 */
const hasWideBreaks = (head: Buffer): boolean => {
  const breaks: Array<number> = []
  for (let at = head.indexOf(10); at !== -1; at = head.indexOf(10, at + 1)) breaks.push(at)
  if (breaks.length === 0) return false
  const areLittle = breaks.every((at) => at % 2 === 0 && head[at + 1] === 0)
  return areLittle || breaks.every((at) => at % 2 === 1 && head[at - 1] === 0)
}

/** The number whose bytes are at these positions, the highest first. */
const unitAt = (head: Buffer, positions: ReadonlyArray<number>): number =>
  positions.reduce((value, at) => value * 256 + head[at]!, 0)

/** Whether the text has a line break, a digit or another ASCII character if it is read in this charset. */
export const hasAscii = (bytes: Buffer, { unit, name }: WideCharset): boolean => {
  const last = unit - 1
  const positions = Array.from({ length: unit }, (_, n) => (name.endsWith("le") ? last - n : n))
  return Array.from({ length: Math.floor(bytes.length / unit) }, (_, n) => n * unit).some((at) => {
    const code = unitAt(
      bytes,
      positions.map((position) => at + position),
    )
    return code < 128 && isText(code)
  })
}

/** The charset of a text without a mark, by its first bytes; null if it is not wide. */
export const unmarkedWide = (head: Buffer): WideCharset | null => {
  if (!head.includes(0)) return null
  const quarters = head.length >> 2
  const halves = head.length >> 1
  const found: Array<readonly [WideCharset, share: number]> = [
    [UTF_32LE, asciiOf(quarters, (n) => unitAt(head, [n * 4 + 3, n * 4 + 2, n * 4 + 1, n * 4])) / quarters],
    [UTF_32BE, asciiOf(quarters, (n) => unitAt(head, [n * 4, n * 4 + 1, n * 4 + 2, n * 4 + 3])) / quarters],
  ]
  for (const [charset, share] of found) if (quarters > 0 && isEnough(head, charset, share)) return charset
  const begins = [UTF_16LE, UTF_16BE].some((charset) => beginsAsAscii(head, charset))
  if (halves === 0 || (!begins && isMostlyNarrow(head) && !hasWideBreaks(head))) return null
  const little = asciiOf(halves, (n) => unitAt(head, [n * 2 + 1, n * 2])) / halves
  const big = asciiOf(halves, (n) => unitAt(head, [n * 2, n * 2 + 1])) / halves
  const [charset, share] = little >= big ? [UTF_16LE, little] : [UTF_16BE, big]
  return isEnough(head, charset, share) ? charset : null
}

/** Long texts in Chinese have little ASCII, but JSON and quoted cells begin with it. */
const isEnough = (head: Buffer, charset: WideCharset, share: number): boolean =>
  share >= LEAST_ASCII || (share > 0 && beginsAsAscii(head, charset))

/** Whether the text begins with a brace, a bracket or a quote, and another ASCII character. */
const beginsAsAscii = (head: Buffer, charset: WideCharset): boolean =>
  BEGINNINGS.has(head[charset.name.endsWith("le") ? 0 : charset.unit - 1]!) &&
  hasAscii(head.subarray(0, charset.unit), charset) &&
  hasAscii(head.subarray(charset.unit, charset.unit * 2), charset)

const BEGINNINGS = new Set(Buffer.from('{["'))
