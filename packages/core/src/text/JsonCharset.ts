/**
 * JSON in other charsets than UTF-8, in which some programs send it. JSON is UTF-8 unless its bytes show otherwise: a declared
 * charset counts only where they do not, because many senders declare UTF-16 or Latin-1 and send UTF-8.
 */
import iconv from "iconv-lite"
import { type Charset, charsetOf, decode, type Decoded, UTF_8 } from "./Charset.ts"
import { readsAsUtf8 } from "./CharsetGuess.ts"
import { CharsetDetector, TextDecoding } from "./FileCharset.ts"
import { hasAscii, markedWide, UTF_16BE, UTF_16LE, UTF_32BE, UTF_32LE, type WideCharset } from "./WideCharset.ts"

const WIDE = new Map<Charset, WideCharset>(
  [UTF_16LE, UTF_16BE, UTF_32LE, UTF_32BE].map((wide) => [{ name: wide.name, codec: wide.codec, table: null }, wide]),
)

const wideCharset = (wanted: string): Charset => [...WIDE.keys()].find(({ name }) => name === wanted) ?? UTF_8

/** Whether it is UTF-16 or UTF-32. */
export const isWide = (charset: Charset): boolean => WIDE.has(charset)

/** The charset of a body that may be JSON. `declared`: the sender's label. */
export const jsonCharset = (body: Buffer, declared: string | null): Charset => {
  // JSON begins with an ASCII character or a byte order mark.
  if (body.length > 1 && (body[0] === 0 || body[1] === 0 || body[0]! >= 0xfe)) {
    const detector = new CharsetDetector()
    detector.see(body)
    const detected = detector.decide()
    if (detected.unit !== undefined) return wideCharset(detected.name)
  }
  const unit = declared === null ? undefined : /^\s*utf-?(16|32)/i.exec(declared)?.[1]
  if (unit === undefined) {
    const named = charsetOf(declared)
    return named === null || named === UTF_8 || readsAsUtf8(body) ? UTF_8 : named
  }
  const isBegin = (wide: WideCharset) => wide.unit * 8 === Number(unit) && hasAscii(body.subarray(0, wide.unit), wide)
  return [...WIDE].find(([, wide]) => isBegin(wide))?.[0] ?? UTF_8
}

/** Decodes all of a body, in UTF-16 and UTF-32 without its byte order mark. */
export const decodeJson = (body: Buffer, charset: Charset): Decoded => {
  const wide = WIDE.get(charset)
  if (wide === undefined) return decode(body, charset)
  const decoding = new TextDecoding({ ...wide, decidedBy: "bytes" })
  const text = decoding.write(body) + decoding.end()
  return { text, replaced: decoding.replaced }
}

/** The bytes of a text that takes the place of this body, with a byte order mark if the body has one. */
export const encodeJson = (text: string, body: Buffer, { codec }: Charset): Buffer =>
  iconv.encode(text, codec, { addBOM: markedWide(body) !== null })
