/**
 * Streams the text of an archive's part: inflated, checked against the size and checksum in the directory, and decoded.
 * A damaged part, or one with an undecodable character, is refused and never repaired.
 */
import { isUtf8 } from "node:buffer"
import { crc32, createInflateRaw } from "node:zlib"
import { SheetFault } from "./SheetFault.ts"
import { packedBytes, type ZipEntry } from "./ZipArchive.ts"

const PIECE_BYTES = 65_536

/** The part of the beginning that may contain an XML declaration. */
const DECLARATION_BYTES = 400

const faultOf = (entry: ZipEntry, reason: string) => new SheetFault(`its part ${entry.name.slice(0, 100)} ${reason}`)

const METHODS: Readonly<Record<number, string>> = { 9: "Deflate64", 12: "BZIP2", 14: "LZMA", 93: "Zstandard", 95: "XZ" }

const inflated = async function* (packed: Uint8Array): AsyncGenerator<Uint8Array> {
  const inflate = createInflateRaw({ chunkSize: PIECE_BYTES })
  inflate.end(packed)
  yield* inflate as AsyncIterable<Uint8Array>
}

const stored = function* (packed: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < packed.length; at += PIECE_BYTES) yield packed.subarray(at, at + PIECE_BYTES)
}

const unpackedPieces = async function* (archive: Uint8Array, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  if (entry.isEncrypted) throw faultOf(entry, "is encrypted; save the workbook without a password")
  if (entry.method !== 0 && entry.method !== 8) {
    const method = METHODS[entry.method] ?? `method ${entry.method}`
    throw faultOf(entry, `is compressed by ${method}; only Deflate is supported`)
  }
  const packed = packedBytes(archive, entry)
  let size = 0
  let crc = 0
  try {
    for await (const piece of entry.method === 0 ? stored(packed) : inflated(packed)) {
      size += piece.length
      if (size > entry.unpacked) throw faultOf(entry, "is larger than the archive's directory states")
      crc = crc32(piece, crc)
      yield piece
    }
  } catch (cause) {
    throw cause instanceof SheetFault ? cause : faultOf(entry, "is damaged")
  }
  if (size !== entry.unpacked || crc !== entry.crc) throw faultOf(entry, "is damaged: its checksum is wrong")
}

/** How many bytes of the last character are missing. */
const missingBytes = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return Math.max(0, (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) - back)
  }
  return 0
}

interface Decoder {
  readonly write: (bytes: Uint8Array) => string | null
  /** Whether all bytes belonged to characters. */
  readonly end: () => boolean
}

const utf8 = (): Decoder => {
  let begun: Uint8Array = new Uint8Array(0)
  return {
    write: (bytes) => {
      const all =
        begun.length === 0 ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : Buffer.concat([begun, bytes])
      let cut = all.length
      if (missingBytes(all) > 0) while (all[--cut]! < 0xc0);
      begun = all.subarray(cut)
      const whole = all.subarray(0, cut)
      return isUtf8(whole) ? whole.toString("utf8") : null
    },
    end: () => begun.length === 0,
  }
}

const labelled = (label: string): Decoder | null => {
  try {
    const decoder = new TextDecoder(label, { fatal: true })
    const attempt = (bytes: Uint8Array, stream: boolean) => {
      try {
        return decoder.decode(bytes, { stream })
      } catch {
        return null
      }
    }
    return { write: (bytes) => attempt(bytes, true), end: () => attempt(new Uint8Array(0), false) !== null }
  } catch {
    return null
  }
}

/** UTF-16 by its mark or first character, else the charset of the XML declaration, else UTF-8. */
const decoderOf = (head: Uint8Array): Decoder | string => {
  const [first = 0, second = 0] = head
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return labelled("utf-16le")!
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return labelled("utf-16be")!
  const text = Buffer.from(head.subarray(0, DECLARATION_BYTES)).toString("latin1")
  const label = /^(?:\u00ef\u00bb\u00bf)?<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(text)?.[1]
  if (label === undefined || /^(?:utf-?8|us-ascii|utf-?16|unicode)$/i.test(label)) return utf8()
  return labelled(label) ?? label
}

/** The part's text in pieces, without a byte order mark. */
export const partText = async function* (archive: Uint8Array, entry: ZipEntry): AsyncGenerator<string> {
  let decoder: Decoder | undefined
  for await (const piece of unpackedPieces(archive, entry)) {
    const isFirst = decoder === undefined
    if (decoder === undefined) {
      const found = decoderOf(piece)
      if (typeof found === "string") throw faultOf(entry, `is in the encoding ${found}, which is not supported`)
      decoder = found
    }
    const text = decoder.write(piece)
    if (text === null) throw faultOf(entry, "has bytes that are not text in its encoding")
    yield isFirst && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }
  if (decoder?.end() === false) throw faultOf(entry, "ends in the middle of a character")
}
