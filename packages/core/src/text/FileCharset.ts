/**
 * Detects the charset of a file. All of its bytes count: a file that is ASCII for its first megabyte and windows-1251 after
 * it is not UTF-8.
 */
import iconv from "iconv-lite"
import { bufferOf, charsetOf, UTF_8 } from "./Charset.ts"
import { guessCharset } from "./CharsetGuess.ts"

export interface FileCharset {
  readonly name: string
  readonly codec: string
  /** The source of the charset: the caller, a byte order mark, or the bytes themselves. */
  readonly decidedBy: "option" | "mark" | "bytes"
}

const UTF_16LE = { name: "utf-16le", codec: "utf-16le" }
const UTF_16BE = { name: "utf-16be", codec: "utf-16be" }

/** The charset that a caller specified; null if it is unknown. */
export const namedCharset = (label: string): FileCharset | null => {
  const key = label.trim().toLowerCase()
  const wide = /^utf-?16(le|be)?$/.exec(key)
  if (wide !== null) return { ...(wide[1] === "be" ? UTF_16BE : UTF_16LE), decidedBy: "option" }
  const found = charsetOf(key)
  return found === null ? null : { name: found.name, codec: found.codec, decidedBy: "option" }
}

/** How many bytes are examined to guess between single-byte charsets, starting at the first that is not ASCII. */
const GUESS_BYTES = 262_144
const HEAD_BYTES = 4096

/** Receives all bytes of a file once, in order, and then returns its charset. */
export class CharsetDetector {
  readonly #strict = new TextDecoder("utf-8", { fatal: true })
  #isUtf8 = true
  #head: Buffer = Buffer.alloc(0)
  readonly #high: Array<Buffer> = []
  #highBytes = 0

  see(bytes: Uint8Array): void {
    const chunk = bufferOf(bytes)
    if (this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, HEAD_BYTES - this.#head.length)])
    }
    if (this.#isUtf8) {
      try {
        this.#strict.decode(chunk, { stream: true })
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
    if (head[0] === 0xff && head[1] === 0xfe) return { ...UTF_16LE, decidedBy: "mark" }
    if (head[0] === 0xfe && head[1] === 0xff) return { ...UTF_16BE, decidedBy: "mark" }
    if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) {
      return { name: UTF_8.name, codec: UTF_8.codec, decidedBy: "mark" }
    }
    const zeros = [0, 0]
    for (let at = 0; at < head.length; at++) if (head[at] === 0) zeros[at & 1]!++
    if (zeros[1]! > head.length / 5 && zeros[0]! * 4 < zeros[1]!) return { ...UTF_16LE, decidedBy: "bytes" }
    if (zeros[0]! > head.length / 5 && zeros[1]! * 4 < zeros[0]!) return { ...UTF_16BE, decidedBy: "bytes" }
    const { name, codec } = this.#isUtf8 && this.#whole() ? UTF_8 : guessCharset(Buffer.concat(this.#high))
    return { name, codec, decidedBy: "bytes" }
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

/** Decodes in pieces, without a byte order mark. U+0000 becomes U+FFFD; replacements are counted. */
export class TextDecoding {
  readonly #decoder: { write: (bytes: Buffer) => string; end: () => string | undefined }
  /** Characters that the charset does not have, and U+0000. In UTF-16, a U+FFFD that was sent as such counts too. */
  replaced = 0

  constructor(charset: FileCharset) {
    this.#decoder = iconv.getDecoder(charset.codec)
    this.#sentMarks = charset.codec === UTF_8.codec
  }

  readonly #sentMarks: boolean

  write(bytes: Uint8Array): string {
    return this.#storable(this.#decoder.write(bufferOf(bytes)), bytes)
  }

  end(): string {
    return this.#storable(this.#decoder.end() ?? "", null)
  }

  #storable(text: string, bytes: Uint8Array | null): string {
    if (text.includes("\uFFFD")) {
      this.replaced += occurrences(text, "\uFFFD")
      if (this.#sentMarks && bytes !== null) this.replaced -= sent(bufferOf(bytes))
    }
    if (!text.includes("\0")) return text
    this.replaced += occurrences(text, "\0")
    return text.replaceAll("\0", "\uFFFD")
  }
}

const occurrences = (text: string, part: string): number => text.split(part).length - 1

const MARK = Buffer.from("\uFFFD")
const sent = (bytes: Buffer): number => {
  let times = 0
  for (let at = bytes.indexOf(MARK); at !== -1; at = bytes.indexOf(MARK, at + 3)) times++
  return times
}
