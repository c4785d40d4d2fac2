/** Reads the directory of a zip archive and finds its parts, before anything is unpacked. */
import { SheetFault } from "./SheetFault.ts"

const END_SIGNATURE = 0x06054b50
const END_64_SIGNATURE = 0x06064b50
const LOCATOR_64_SIGNATURE = 0x07064b50
const ENTRY_SIGNATURE = 0x02014b50
const PART_SIGNATURE = 0x04034b50
const MAX_COMMENT_BYTES = 65_535
const MAX_ENTRIES = 65_536

/** A 32-bit field whose value is in the entry's ZIP64 field. */
const ELSEWHERE = 0xffffffff

export interface ZipEntry {
  /** With forward slashes and no leading one, whatever the archive contains. */
  readonly name: string
  /** The size and checksum in the directory. */
  readonly unpacked: number
  readonly crc: number
  readonly packed: number
  readonly method: number
  readonly isEncrypted: boolean
  /** Where its own header begins. */
  readonly offset: number
}

const damaged = () => new SheetFault("its directory is damaged, so the file is truncated or was changed")

interface Directory {
  readonly count: number
  readonly at: number
  /** The number of bytes before the archive, which its offsets do not count. */
  readonly before: number
}

const number64 = (view: DataView, at: number): number => {
  const value = Number(view.getBigUint64(at, true))
  if (!Number.isSafeInteger(value)) throw damaged()
  return value
}

/** `from`: where these bytes begin in the archive. */
const directoryOf = (view: DataView, from: number): Directory => {
  let end = view.byteLength - 22
  const stop = Math.max(0, end - MAX_COMMENT_BYTES)
  while (end >= stop && view.getUint32(end, true) !== END_SIGNATURE) end--
  if (end < stop) throw new SheetFault("its directory is missing, so the file is truncated")
  if (end >= 20 && view.getUint32(end - 20, true) === LOCATOR_64_SIGNATURE) {
    const at = number64(view, end - 12) - from
    if (at < 0 || at + 56 > end || view.getUint32(at, true) !== END_64_SIGNATURE) throw damaged()
    return { count: number64(view, at + 32), at: number64(view, at + 48), before: 0 }
  }
  const size = view.getUint32(end + 12, true)
  const at = view.getUint32(end + 16, true)
  const before = end + from - size - at
  if (before < 0) throw damaged()
  return { count: view.getUint16(end + 10, true), at: at + before, before }
}

/** The 64-bit values of an entry's extra fields, in the order that the format prescribes. */
const wide = (view: DataView, from: number, to: number): Array<number> => {
  for (let at = from; at + 4 <= to;) {
    const size = view.getUint16(at + 2, true)
    if (view.getUint16(at, true) === 1) {
      const values: Array<number> = []
      for (let n = 0; n + 8 <= size && at + 12 + n <= to; n += 8) values.push(number64(view, at + 4 + n))
      return values
    }
    at += 4 + size
  }
  return []
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/**
 * All entries in the archive's order. Throws if the directory is missing or damaged. Only the end of an archive is needed:
 * `from` is where the bytes begin in it.
 */
export const zipEntries = (bytes: Uint8Array, from = 0): ReadonlyArray<ZipEntry> => {
  const view = viewOf(bytes)
  if (bytes.length < 22) throw new SheetFault("its directory is missing, so the file is truncated")
  const { count, at: begin, before } = directoryOf(view, from)
  if (count > MAX_ENTRIES) throw damaged()
  if (begin < from) throw new SheetFault(`it holds ${count} files`)
  const found: Array<ZipEntry> = []
  let at = begin - from
  for (let n = 0; n < count; n++) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== ENTRY_SIGNATURE) throw damaged()
    const nameEnd = at + 46 + view.getUint16(at + 28, true)
    const extraEnd = nameEnd + view.getUint16(at + 30, true)
    if (extraEnd > bytes.length) throw damaged()
    const extra = wide(view, nameEnd, extraEnd)
    const size = (field: number) => {
      const value = view.getUint32(at + field, true)
      return value === ELSEWHERE ? (extra.shift() ?? value) : value
    }
    // The order of these three is the order of their 64-bit values.
    const [unpacked, packed, offset] = [size(24), size(20), size(42)]
    found.push({
      name: Buffer.from(bytes.subarray(at + 46, nameEnd))
        .toString("utf8")
        .replaceAll("\\", "/")
        .replace(/^\/+/, ""),
      unpacked,
      crc: view.getUint32(at + 16, true),
      packed,
      method: view.getUint16(at + 10, true),
      isEncrypted: (view.getUint16(at + 8, true) & 1) !== 0,
      offset: offset + before,
    })
    at = extraEnd + view.getUint16(at + 32, true)
  }
  return found
}

/** The size of an entry's own header, before its name and extra fields. */
export const HEADER_BYTES = 30

/** How many bytes an entry's own header takes with its name and extra fields; null if no such header begins there. */
export const headerSize = (bytes: Uint8Array, at: number): number | null => {
  const view = viewOf(bytes)
  if (at + HEADER_BYTES > bytes.length || view.getUint32(at, true) !== PART_SIGNATURE) return null
  return HEADER_BYTES + view.getUint16(at + 26, true) + view.getUint16(at + 28, true)
}

/** The packed bytes of an entry. */
export const packedBytes = (bytes: Uint8Array, { name, offset, packed }: ZipEntry): Uint8Array => {
  const size = headerSize(bytes, offset)
  if (size === null) throw damaged()
  const begin = offset + size
  if (begin + packed > bytes.length) throw new SheetFault(`its part ${name.slice(0, 100)} is truncated`)
  return bytes.subarray(begin, begin + packed)
}
