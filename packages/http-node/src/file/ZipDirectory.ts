/**
 * Reads a zip archive's directory: enough to refuse a decompression bomb before anything is unpacked, and to read one small
 * part.
 */
import { inflateRawSync } from "node:zlib"

const END_SIGNATURE = 0x06054b50
const ENTRY_SIGNATURE = 0x02014b50
const MAX_COMMENT_BYTES = 65_535

export interface ZipEntry {
  readonly name: string
  /** According to the directory. */
  readonly unpacked: number
  readonly packed: number
  readonly method: number
  readonly offset: number
}

/** Null if there is no directory, or it is damaged. A workbook that needs ZIP64 exceeds all our limits. */
export const zipEntries = (bytes: Uint8Array): ReadonlyArray<ZipEntry> | null => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let end = bytes.length - 22
  for (const stop = Math.max(0, end - MAX_COMMENT_BYTES); end >= stop && view.getUint32(end, true) !== END_SIGNATURE;)
    end--
  if (end < 0 || view.getUint32(end, true) !== END_SIGNATURE) return null
  const count = view.getUint16(end + 10, true)
  let at = view.getUint32(end + 16, true)
  const found: Array<ZipEntry> = []
  for (let n = 0; n < count; n++) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== ENTRY_SIGNATURE) return null
    const nameLength = view.getUint16(at + 28, true)
    found.push({
      name: Buffer.from(bytes.subarray(at + 46, at + 46 + nameLength)).toString("utf8"),
      unpacked: view.getUint32(at + 24, true),
      packed: view.getUint32(at + 20, true),
      method: view.getUint16(at + 10, true),
      offset: view.getUint32(at + 42, true),
    })
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return found
}

/** The text of one part; null if there is none, or it is larger than `maxBytes`. */
export const partText = (
  bytes: Uint8Array,
  entries: ReadonlyArray<ZipEntry>,
  name: string,
  maxBytes: number,
): string | null => {
  const entry = entries.find((each) => each.name === name)
  if (entry === undefined || entry.offset + 30 > bytes.length) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const begin = entry.offset + 30 + view.getUint16(entry.offset + 26, true) + view.getUint16(entry.offset + 28, true)
  const packed = bytes.subarray(begin, begin + entry.packed)
  if (entry.method === 0) return packed.length > maxBytes ? null : Buffer.from(packed).toString("utf8")
  try {
    return inflateRawSync(packed, { maxOutputLength: maxBytes }).toString("utf8")
  } catch {
    return null
  }
}
