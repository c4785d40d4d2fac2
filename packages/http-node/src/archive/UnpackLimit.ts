/** Limits how much an archive may unpack to. */
import { ArchiveFault } from "./ArchiveFault.ts"

/** Any archive may unpack to the first number of bytes, plus the second for each byte of the archive. */
const FREE_BYTES = 128 * 1024 ** 2
const RATIO = 100

const size = (bytes: number): string =>
  bytes >= 1024 ** 3 ? `${Math.round(bytes / 1024 ** 3)} GB` : `${Math.round(bytes / 1024 ** 2)} MB`

const tooLarge = (limit: number, ratioLimit: number): ArchiveFault =>
  new ArchiveFault(
    ratioLimit < limit
      ? `it unpacks to more than ${size(ratioLimit)}, which is over ${RATIO} times its own size; unpack it and send the file inside`
      : `it unpacks to more than ${size(limit)}`,
    "too_large",
  )

/** Passes the pieces on, up to what an archive of `packed` bytes may unpack to. */
export const limited = async function* (
  pieces: AsyncIterable<Uint8Array>,
  packed: number,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const ratioLimit = FREE_BYTES + RATIO * packed
  let total = 0
  for await (const piece of pieces) {
    total += piece.length
    if (total > Math.min(maxBytes, ratioLimit)) throw tooLarge(maxBytes, ratioLimit)
    yield piece
  }
}

/** Refuses an archive whose directory states a size over the limit, before anything is unpacked. */
export const checkStated = (unpacked: number, packed: number, maxBytes: number): void => {
  const ratioLimit = FREE_BYTES + RATIO * packed
  if (unpacked > Math.min(maxBytes, ratioLimit)) throw tooLarge(maxBytes, ratioLimit)
}
