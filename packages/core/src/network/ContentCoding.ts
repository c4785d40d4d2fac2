/**
 * The content codings of HTTP. Decoding stops as soon as the decoded body would exceed the limit: a decompression bomb is never
 * unpacked. Bytes after the end of the compressed data are an error, because they would be lost.
 */
import { Result } from "effect"
import * as zlib from "node:zlib"
import { charsetOf } from "../text/Charset.ts"

/**
 * `too_large`: the decoded body exceeds the limit. `corrupt`: the bytes do not match the coding; `reason` is in words.
 */
export type CodingFailure =
  | { readonly code: "too_large" }
  | {
      readonly code: "corrupt"
      readonly reason: string
    }

/** Decodes one coding of a whole body. */
export type ContentCoding = (body: Uint8Array, limit: number) => Promise<Result.Result<Uint8Array, CodingFailure>>

interface Unpacked {
  readonly buffer: Buffer
  /** The number of input bytes that were read. */
  readonly engine: { readonly bytesWritten: number }
}

type Options = zlib.ZlibOptions & zlib.BrotliOptions & zlib.ZstdOptions

interface Format {
  readonly inParts?: boolean
  readonly hasSignature?: boolean
  readonly options?: Options
}

type Decompress = (
  body: Uint8Array,
  options: Options,
  done: (error: NodeJS.ErrnoException | null, result: Buffer) => void,
) => void

/** The codings that can be decoded, in words for the sender. */
export const CODING_NAMES = "gzip, deflate, br or zstd"

/** The head and the end of gzip. */
const MIN_GZIP_BYTES = 18

/** More parts than this in one body are an attack. */
const MAX_PARTS = 1000

const TOO_LARGE: Result.Result<never, CodingFailure> = Result.fail({ code: "too_large" })

const corrupt = (name: string, reason: string): Result.Result<never, CodingFailure> =>
  Result.fail({ code: "corrupt", reason: `The body is not valid ${name}: ${reason}` })

const unpack = (
  decompress: Decompress,
  body: Uint8Array,
  options: Options,
): Promise<Unpacked | NodeJS.ErrnoException> =>
  new Promise((resolve) =>
    decompress(body, { ...options, info: true }, (error, unpacked) =>
      resolve(error ?? (unpacked as unknown as Unpacked)),
    ),
  )

/** JSON, or a form's first name. No data in gzip or zstd begins so. */
const PLAIN = /^\s*[{["]|^[\w.[\]%+-]+=/

const isPlain = (body: Uint8Array): boolean => PLAIN.test(Buffer.from(body.subarray(0, 200)).toString("latin1"))

/**
 * Node stops after the first part of a body. `inParts`: whether several parts may follow one another. `hasSignature`: the
 * format cannot begin as text does, so a body that a proxy has decompressed is returned as it is.
 */
const coding =
  (
    name: string,
    decompress: (body: Uint8Array) => Decompress,
    { inParts = false, hasSignature = false, options = {} }: Format = {},
  ): ContentCoding =>
  async (body, limit) => {
    if (hasSignature && isPlain(body)) return Result.succeed(body)
    const parts: Array<Uint8Array> = []
    let left = limit
    for (let at = 0; at < body.byteLength;) {
      // Padding with zero bytes is usual after gzip, and means nothing after the others.
      if (at > 0 && isPadding(body, at)) break
      if (at > 0 && (!inParts || parts.length === MAX_PARTS)) return corrupt(name, `data follow its end, at byte ${at}`)
      const rest = body.subarray(at)
      const unpacked = await unpack(decompress(rest), rest, { ...options, maxOutputLength: Math.max(left, 1) })
      if (unpacked instanceof Error) {
        return unpacked.code === "ERR_BUFFER_TOO_LARGE" ? TOO_LARGE : corrupt(name, unpacked.message)
      }
      const { buffer, engine } = unpacked
      if (buffer.byteLength > left) return TOO_LARGE
      if (engine.bytesWritten === 0) return corrupt(name, "it has no end")
      left -= buffer.byteLength
      at += engine.bytesWritten
      parts.push(buffer)
    }
    return Result.succeed(parts.length === 1 ? parts[0]! : Buffer.concat(parts))
  }

const isPadding = (body: Uint8Array, from: number): boolean => {
  for (let at = from; at < body.byteLength; at++) if (body[at] !== 0) return false
  return true
}

// In RFC 9110 `deflate` is the zlib format; some senders omit its two header bytes.
const hasZlibHeader = (body: Uint8Array): boolean => {
  const [first = 0, second = 0] = body
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0
}

/** Node reads all members of a gzip itself. */
const gzip = coding("gzip", () => zlib.gunzip, { hasSignature: true })

/** The first bytes of gzip with deflated data. No text begins with them. */
const GZIP_HEAD = [0x1f, 0x8b, 8]

/** The coding of a body whose head names none, by its first bytes; none for a body too short to have content. */
export const unnamedCoding = (body: Uint8Array): ContentCoding | null =>
  body.byteLength > MIN_GZIP_BYTES && GZIP_HEAD.every((byte, at) => body[at] === byte) ? gzip : null

/** RFC 9659 does not require a larger window, and windows take memory. */
const ZSTD_WINDOW_LOG = 23

const CODINGS = new Map<string, ContentCoding>([
  ["gzip", gzip],
  ["x-gzip", gzip],
  ["deflate", coding("deflate", (body) => (hasZlibHeader(body) ? zlib.inflate : zlib.inflateRaw))],
  ["br", coding("br", () => zlib.brotliDecompress)],
])

// Missing in Node before 22.15: there, zstd is an unknown coding.
const { zstdDecompress } = zlib as { readonly zstdDecompress?: typeof zlib.zstdDecompress }
if (zstdDecompress !== undefined) {
  const params = { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG }
  CODINGS.set(
    "zstd",
    coding("zstd", () => zstdDecompress, { inParts: true, hasSignature: true, options: { params } }),
  )
}

/** Values that senders write although they name no compression, besides the names of charsets and media types. */
const NO_CODING: ReadonlySet<string> = new Set(["", "identity", "none", "7bit", "8bit", "binary", "ascii", "us-ascii"])

const MEDIA_TYPE = /^(?:text\/.|multipart\/.|application\/(?:(?:.*\+)?(?:json|xml)|x-www-form-urlencoded)$)/

const namesNoCompression = (name: string): boolean =>
  NO_CODING.has(name) || MEDIA_TYPE.test(name) || charsetOf(name.replace(/^charset\s*=\s*/, "")) !== null

/** More codings than this on one body are an attack. */
const MAX_CODINGS = 2

/** The codings of a `Content-Encoding` header, in the order in which they are decoded; null if one of them is unknown. */
export const contentCodings = (header: string): ReadonlyArray<ContentCoding> | null => {
  const codings: Array<ContentCoding> = []
  for (const token of header.split(",")) {
    const name = token
      .trim()
      .replace(/^"(.*)"$/, "$1")
      .toLowerCase()
    if (namesNoCompression(name)) continue
    const known = CODINGS.get(name)
    if (known === undefined || codings.length === MAX_CODINGS) return null
    codings.unshift(known)
  }
  return codings
}
