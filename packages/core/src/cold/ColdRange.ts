/** Ranges of the feed, the names of their files, and the digest by which a file is compared with what was to be written. */
import { createHash } from "node:crypto"
import type { FeedPlace } from "../feed/FeedStore.ts"
import { comparePlaces } from "../feed/FeedTrail.ts"
import type { ColdEvent, ColdGroup } from "./ColdFiles.ts"

/** From and up to these places, both included. */
export interface ColdRange {
  readonly first: FeedPlace
  readonly last: FeedPlace
}

const placeText = ({ epoch, xid, id }: FeedPlace): string =>
  [String(epoch).padStart(16, "0"), String(xid).padStart(20, "0"), String(id).padStart(16, "0")].join(".")

/** What the names of all files of a range begin with. Names sort as the feed does. */
export const rangePrefix = ({ first, last }: ColdRange): string => `${placeText(first)}_${placeText(last)}_`

/** The name of a new file of a range. `tag` distinguishes it from others of the same range. */
export const coldName = (range: ColdRange, tag: string): string => `${rangePrefix(range)}${tag}.parquet`

/** Whether a place is in a range. */
export const isWithin = (place: FeedPlace, { first, last }: ColdRange): boolean =>
  comparePlaces(place, first) >= 0 && comparePlaces(place, last) <= 0

/** Whether an id may be in a group. */
export const mayHaveId = ({ ids: [least, most] }: Pick<ColdGroup, "ids">, id: number): boolean =>
  id >= least && id <= most

/** The digest of events, in their order; equal for equal events only. */
export class ColdDigest {
  readonly #hash = createHash("sha256")
  events = 0

  add(events: ReadonlyArray<ColdEvent>): void {
    for (const event of events) {
      const { payload, ...rest } = event
      const members = Object.entries(rest).toSorted(([one], [other]) => (one < other ? -1 : 1))
      this.#hash.update(members.map(([, value]) => String(value)).join(" "))
      this.#hash.update(`\n${payload}\n`)
    }
    this.events += events.length
  }

  /** In hexadecimal. Nothing can be added afterwards. */
  get text(): string {
    return this.#hash.digest("hex")
  }
}
