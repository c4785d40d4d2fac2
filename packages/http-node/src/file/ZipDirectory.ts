/** What a zip archive says about itself: enough to refuse a bomb before anything is unpacked. A liar is stopped by the heap. */

const END = 0x06054b50
const ENTRY = 0x02014b50
const MAX_COMMENT = 65_535

/** The sizes of all entries together, unpacked; null where there is no directory, or it is damaged. */
export const unpackedBytes = (bytes: Uint8Array): number | null => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let end = bytes.length - 22
  for (const stop = Math.max(0, end - MAX_COMMENT); end >= stop && view.getUint32(end, true) !== END;) end--
  if (end < 0 || view.getUint32(end, true) !== END) return null
  const count = view.getUint16(end + 10, true)
  let at = view.getUint32(end + 16, true)
  // ZIP64: a workbook that needs it is past every limit of ours.
  if (at === 0xffffffff || count === 0xffff) return Number.MAX_SAFE_INTEGER
  let total = 0
  for (let n = 0; n < count; n++) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== ENTRY) return null
    const size = view.getUint32(at + 24, true)
    total += size === 0xffffffff ? Number.MAX_SAFE_INTEGER : size
    at += 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return total
}
