/**
 * The one file in a zip archive, found by the directory at the archive's end and unpacked as a stream. A workbook is a zip
 * archive as well, and stays one. An archive of no file or of several is refused, and its files are listed.
 */
import { crc32 } from "node:zlib"
import { HEADER_BYTES, headerSize, type ZipEntry, zipEntries } from "../sheet/ZipArchive.ts"
import { ArchiveFault } from "./ArchiveFault.ts"
import { inflate } from "./Inflate.ts"
import { checkStated, limited } from "./UnpackLimit.ts"

/** The end of an archive that is kept to read its directory. */
const TAIL_BYTES = 1_048_576

export interface Tail {
  readonly bytes: Uint8Array
  /** Where it begins in the archive. */
  readonly from: number
}

/** Reads to the end, and keeps the end. */
export const tailOf = async (archive: AsyncIterable<Uint8Array>): Promise<Tail> => {
  const kept: Array<Uint8Array> = []
  let held = 0
  let total = 0
  for await (const piece of archive) {
    kept.push(piece)
    held += piece.length
    total += piece.length
    while (held - kept[0]!.length >= TAIL_BYTES) held -= kept.shift()!.length
  }
  return { bytes: Buffer.concat(kept), from: total - held }
}

/** Parts that identify workbooks and other documents, which the workbook reader distinguishes. */
const DOCUMENT_PART =
  /^(?:\[content_types\]\.xml$|mimetype$|content\.xml$|xl\/|word\/|ppt\/|meta-inf\/|index\.zip$|index\/)/i

/** Files that macOS and Windows add on their own. */
const COMPANION = /(?:^|\/)(?:__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$)/i

const MAX_LISTED = 10

const shown = (name: string): string =>
  name
    .replaceAll(/\p{Cc}/gu, "\uFFFD")
    .slice(0, 100)
    .toWellFormed()

const listed = (files: ReadonlyArray<ZipEntry>): string =>
  files
    .slice(0, MAX_LISTED)
    .map(({ name }) => shown(name))
    .join(", ") + (files.length > MAX_LISTED ? ", …" : "")

const METHODS: Readonly<Record<number, string>> = {
  1: "Shrink",
  6: "Implode",
  9: "Deflate64",
  12: "BZIP2",
  14: "LZMA",
  93: "Zstandard",
  95: "XZ",
  98: "PPMd",
}

/** The only file; null if the archive is a document. */
export const onlyEntry = ({ bytes, from }: Tail, maxBytes: number): ZipEntry | null => {
  const entries = zipEntries(bytes, from)
  if (entries.some(({ name }) => DOCUMENT_PART.test(name))) return null
  const files = entries.filter(({ name }) => !name.endsWith("/") && !COMPANION.test(name))
  const [entry] = files
  if (entry === undefined) throw new ArchiveFault("it contains no file")
  if (files.length > 1) {
    throw new ArchiveFault(`it holds ${files.length} files (${listed(files)}); send one of them, or an archive of one`)
  }
  const { name, isEncrypted, method, unpacked, packed } = entry
  if (isEncrypted) throw new ArchiveFault(`its file ${shown(name)} is encrypted; pack it without a password`)
  if (method !== 0 && method !== 8) {
    const by = METHODS[method] ?? `method ${method}`
    throw new ArchiveFault(`its file ${shown(name)} is compressed by ${by}; pack it with Deflate, the usual way`)
  }
  checkStated(unpacked, packed, maxBytes)
  return entry
}

/** The name of an entry without its folders. */
export const entryName = ({ name }: ZipEntry): string => shown(name.slice(name.lastIndexOf("/") + 1))

/** The packed bytes of an entry. */
const packedPieces = async function* (archive: AsyncIterable<Uint8Array>, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  let skip = entry.offset
  let header = Buffer.alloc(0)
  let left = -1
  for await (const piece of archive) {
    let rest = piece.subarray(Math.min(skip, piece.length))
    skip -= piece.length - rest.length
    if (left === -1 && skip === 0) {
      header = Buffer.concat([header, rest])
      if (header.length < HEADER_BYTES) continue
      const size = headerSize(header, 0)
      if (size === null) throw new ArchiveFault(`its file has no header at byte ${entry.offset}`)
      skip = size
      left = entry.packed
      rest = header.subarray(Math.min(skip, header.length))
      skip -= header.length - rest.length
    }
    if (left === -1 || skip > 0) continue
    if (rest.length > 0 && left > 0) yield rest.subarray(0, left)
    left -= Math.min(left, rest.length)
    if (left === 0) return
  }
  if (left !== 0) throw new ArchiveFault("it is cut off: its directory states more bytes than it has")
}

/** The file itself, checked against the size and the checksum that the directory states. */
export const entryPieces = async function* (
  archive: AsyncIterable<Uint8Array>,
  entry: ZipEntry,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const packed = packedPieces(archive, entry)
  const pieces = entry.method === 0 ? packed : inflate(packed, "deflate")
  const what = `its file ${shown(entry.name)}`
  let size = 0
  let crc = 0
  for await (const piece of limited(pieces, entry.packed, maxBytes)) {
    size += piece.length
    if (size > entry.unpacked) throw new ArchiveFault(`${what} has more bytes than the directory states`)
    crc = crc32(piece, crc)
    yield piece
  }
  if (size !== entry.unpacked) {
    throw new ArchiveFault(`${what} is damaged: it has ${size} bytes, but the directory states ${entry.unpacked}`)
  }
  if (crc !== entry.crc) throw new ArchiveFault(`${what} is damaged: its checksum is wrong`)
}
