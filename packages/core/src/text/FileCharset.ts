/**
 * Detects the charset of a file. All of its bytes count: a file that is ASCII for its first megabyte and windows-1251 after
 * it is not UTF-8.
 */
import iconv from "iconv-lite"
import { bufferOf, charsetOf, UTF_8 } from "./Charset.ts"
import { guessCharset } from "./CharsetGuess.ts"
import { judgeGuess } from "./GuessDoubt.ts"
import { byteOrderMark, contradictsMark } from "./ByteOrderMark.ts"
import { unmarkedWide, UTF_16BE, UTF_16LE, UTF_32BE, UTF_32LE, type WideCharset } from "./WideCharset.ts"

export interface FileCharset {
  readonly name: string
  readonly codec: string
  /** The bytes of one unit in UTF-16 and UTF-32. */
  readonly unit?: 2 | 4
  /** The source of the charset: the caller, a byte order mark, the HTML page, or the bytes themselves. */
  readonly decidedBy: "option" | "mark" | "page" | "bytes"
  /** Set if the bytes hardly read as text of this charset, or as well in another. */
  readonly isUnclear?: true
  /** The length of a byte order mark that is skipped, because the text is in another charset than it declares. */
  readonly falseMark?: number
}

/** Families whose byte order a caller may leave to the file. */
const FAMILIES = new Map<string, ReadonlyArray<WideCharset>>([
  ["utf-16", [UTF_16LE, UTF_16BE]],
  ["utf-32", [UTF_32LE, UTF_32BE]],
])

/** The charset that a caller specified; null if it is unknown. */
export const namedCharset = (label: string): FileCharset | null => {
  const key = label.trim().toLowerCase()
  const [, family, order] = /^(utf-?(?:16|32))-?(le|be)?$/.exec(key) ?? []
  if (family !== undefined) {
    const [little, big] = FAMILIES.get(family.replace(/f-?/, "f-"))!
    return { ...(order === "be" ? big! : little!), decidedBy: "option" }
  }
  const found = charsetOf(key)
  return found === null ? null : { name: found.name, codec: found.codec, decidedBy: "option" }
}

/** Whether a caller's label leaves the byte order to the file. */
export const hasOpenByteOrder = (label: string): boolean => /^\s*utf-?(?:16|32)\s*$/i.test(label)

/** How many bytes are examined to guess between single-byte charsets, starting at the first that is not ASCII. */
const GUESS_BYTES = 262_144
const HEAD_BYTES = 4096
/** So many bytes of ASCII at the beginning or at the end of UTF-16 are hardly letters of Chinese. */
const NARROW_BYTES = 8

const isNarrow = (bytes: Buffer): boolean =>
  bytes.length === NARROW_BYTES &&
  bytes.every((byte) => (byte >= 32 && byte < 127) || byte === 9 || byte === 10 || byte === 13)

/** Receives all bytes of a file once, in order, and then returns its charset. */
export class CharsetDetector {
  readonly #strict = new TextDecoder("utf-8", { fatal: true })
  #isUtf8 = true
  #seen = 0
  /** Bytes of a mark of UTF-16, which text behind it that is UTF-8 does not have. */
  #wideMark = 0
  #head: Buffer = Buffer.alloc(0)
  #tail: Buffer = Buffer.alloc(0)
  readonly #high: Array<Buffer> = []
  #highBytes = 0

  see(bytes: Uint8Array): void {
    const chunk = bufferOf(bytes)
    if (this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, HEAD_BYTES - this.#head.length)])
    }
    this.#tail =
      chunk.length < NARROW_BYTES ? Buffer.concat([this.#tail, chunk]) : Buffer.from(chunk.subarray(-NARROW_BYTES))
    let skipped = 0
    while (this.#wideMark < 2 && this.#seen + skipped === this.#wideMark && chunk[skipped]! >= 0xfe) {
      skipped++
      this.#wideMark++
    }
    this.#seen += chunk.length
    if (this.#isUtf8) {
      try {
        this.#strict.decode(chunk.subarray(skipped), { stream: true })
      } catch {
        this.#isUtf8 = false
      }
    }
    if (this.#highBytes < GUESS_BYTES) {
      let from = 0
      if (this.#highBytes === 0) {
        while (from < chunk.length && chunk[from]! < 128) from++
        if (from === chunk.length) return
        from = Math.max(0, from - 256)
      }
      const part = Buffer.from(chunk.subarray(from, from + GUESS_BYTES - this.#highBytes))
      this.#high.push(part)
      this.#highBytes += part.length
    }
  }

  decide(): FileCharset {
    const head = this.#head
    const high = Buffer.concat(this.#high)
    const mark = byteOrderMark(head)
    if (mark === null) return this.#byBytes(head, high, this.#wideMark === 0)
    const behind = head.subarray(mark.length)
    const highBehind = high.subarray(mark.length)
    if (!contradictsMark(mark, behind, highBehind)) {
      return {
        ...mark.charset,
        decidedBy: "mark",
        ...(mark.charset.unit === undefined ? {} : this.#doubtOfWide(behind)),
      }
    }
    return { ...this.#byBytes(behind, highBehind, true), falseMark: mark.length }
  }

  #byBytes(head: Buffer, high: Buffer, mayBeUtf8: boolean): FileCharset {
    const wide = unmarkedWide(head)
    if (wide !== null) return { ...wide, decidedBy: "bytes", ...this.#doubtOfWide(head) }
    if (mayBeUtf8 && this.#isUtf8 && this.#whole()) return { name: UTF_8.name, codec: UTF_8.codec, decidedBy: "bytes" }
    const { charset, isClear } = judgeGuess(high, guessCharset(high))
    const { name, codec } = charset
    return { name, codec, decidedBy: "bytes", ...(isClear ? {} : { isUnclear: true }) }
  }

  /** Some programs append UTF-16 to a text in UTF-8, or the other way round. */
  #doubtOfWide(head: Buffer): { readonly isUnclear?: true } {
    return isNarrow(head.subarray(0, NARROW_BYTES)) || isNarrow(this.#tail.subarray(-NARROW_BYTES))
      ? { isUnclear: true }
      : {}
  }

  /** False if a character is truncated at the end of the file. */
  #whole(): boolean {
    try {
      this.#strict.decode()
      return true
    } catch {
      return false
    }
  }
}

/**
 * Decodes in pieces, without a byte order mark. U+0000 and a surrogate without its other half become U+FFFD; replacements
 * are counted.
 */
export class TextDecoding {
  readonly #decoder: { write: (bytes: Buffer) => string; end: () => string | undefined }
  /**
   * The number of characters that the charset does not have, and of U+0000. In UTF-16, a U+FFFD that was sent also
   * counts.
   */
  replaced = 0

  constructor(charset: FileCharset) {
    this.#decoder = iconv.getDecoder(charset.codec)
    this.#sentMarks = charset.codec === UTF_8.codec
    this.#unit = charset.unit ?? 1
    this.#skip = charset.falseMark ?? 0
  }

  readonly #sentMarks: boolean
  readonly #unit: number
  #skip: number
  #bytes = 0
  #half = ""

  write(piece: Uint8Array): string {
    const bytes = piece.subarray(this.#skip)
    this.#skip -= piece.length - bytes.length
    this.#bytes += bytes.length
    return this.#storable(this.#decoder.write(bufferOf(bytes)), bytes)
  }

  end(): string {
    const last = this.#decoder.end() ?? ""
    // Some decoders drop a unit that is cut.
    return this.#storable(last === "" && this.#bytes % this.#unit !== 0 ? "\uFFFD" : last, null)
  }

  #storable(decoded: string, bytes: Uint8Array | null): string {
    const text = this.#wellFormed(decoded, bytes === null)
    if (text.includes("\uFFFD")) {
      this.replaced += occurrences(text, "\uFFFD")
      if (this.#sentMarks && bytes !== null) this.replaced -= sent(bufferOf(bytes))
    }
    if (!text.includes("\0")) return text
    this.replaced += occurrences(text, "\0")
    return text.replaceAll("\0", "\uFFFD")
  }

  /**
   * UTF-16 can contain half a pair of surrogates, which PostgreSQL cannot hold, and damaged GB18030 can become one. Some
   * decoders of UTF-16 split a pair between two pieces, so the first half waits for the next.
   */
  #wellFormed(decoded: string, isLast: boolean): string {
    if (this.#unit === 1) return this.#sentMarks ? decoded : decoded.toWellFormed()
    const joined = this.#half + decoded
    const isHalf = !isLast && /[\uD800-\uDBFF]$/.test(joined)
    this.#half = isHalf ? joined.slice(-1) : ""
    return (isHalf ? joined.slice(0, -1) : joined).toWellFormed()
  }
}

const occurrences = (text: string, part: string): number => text.split(part).length - 1

const MARK = Buffer.from("\uFFFD")
const sent = (bytes: Buffer): number => {
  let times = 0
  for (let at = bytes.indexOf(MARK); at !== -1; at = bytes.indexOf(MARK, at + 3)) times++
  return times
}
