/** The names of slices, and what they say about the place where they are. */
import { DestinationFailure, type DestinationPlace, type FeedSlice } from "@data-cabinet/core/destination/Destination"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"

/** Writes the events of a slice as a file. */
export type EncodeSlice = (slice: FeedSlice) => AsyncIterable<Uint8Array>

/**
 * The names of slices: a tag of the destination, and the places between which the events are. Each number has as many
 * digits as it can have, so names sort as the feed does, and a name begins where the one before it ended.
 */
export const placeText = ({ epoch, xid, id }: FeedPlace): string =>
  [String(epoch).padStart(8, "0"), String(xid).padStart(20, "0"), String(id).padStart(16, "0")].join(".")

const PLACE = String.raw`(\d{8,})\.(\d{20})\.(\d{16})`
const NAME = new RegExp(String.raw`^([0-9a-f]{8})_${PLACE}_${PLACE}\.(?:ndjson|parquet)$`)

export const sliceName = (
  { tag, format }: Pick<DestinationPlace, "tag" | "format">,
  { from, to }: { readonly from: FeedPlace; readonly to: FeedPlace },
): string => `${tag}_${placeText(from)}_${placeText(to)}.${format}`

/** Null for a name that is not a slice's. */
export const parseSliceName = (name: string): { readonly tag: string; readonly to: FeedPlace } | null => {
  const parts = NAME.exec(name)
  if (parts === null) return null
  const [, tag, , , , epoch, xid, id] = parts
  return { tag: tag!, to: { epoch: Number(epoch), xid: BigInt(xid!), id: Number(id) } }
}

/**
 * The last place among the names of files; null without one. Throws if there are files of another destination. `kind` is what the
 * place is called.
 */
export const lastPlace = (names: Iterable<string>, tag: string, kind: "directory" | "bucket"): FeedPlace | null => {
  let last: FeedPlace | null = null
  for (const name of names) {
    const slice = parseSliceName(name)
    if (slice === null) continue
    if (slice.tag !== tag) {
      throw new DestinationFailure({
        message: `The ${kind} has files of another destination, such as ${name}. Move them elsewhere, or use another ${kind}.`,
      })
    }
    if (last === null || comparePlaces(slice.to, last) > 0) last = slice.to
  }
  return last
}
