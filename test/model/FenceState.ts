/** The states of the feed's model, and the rules that each of them must keep. */
import type { FeedPlace, FeedPosition } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import { keyOf } from "./Explorer.ts"

/**
 * A writer draws its transaction id within the fence. It releases the fence in the step of its commit: locks are released
 * last, so the moment in between is one of waiting only.
 */
export interface Writer {
  readonly phase: "waiting" | "fenced" | "numbered" | "done"
  readonly xid: number
  readonly serial: number
}

/** What one run of the watermark's statement has read so far. */
export interface Mark {
  readonly epoch: number
  readonly xmax: number | null
  readonly holders: ReadonlyArray<number> | null
  readonly isThere: boolean
  /** Only with the fault that reads the events first. */
  readonly events: ReadonlyArray<FeedPlace> | null
}

/** A client that follows the feed. */
export interface Reader {
  readonly at: FeedPosition
  readonly mark: Mark | null
  readonly seen: ReadonlyArray<number>
  readonly repeated: boolean
}

/** The whole system. Everything in it is a value. */
export interface State {
  readonly writers: ReadonlyArray<Writer>
  readonly readers: ReadonlyArray<Reader>
  /** In the order of their commits, in which a restore loses them. */
  readonly events: ReadonlyArray<FeedPlace>
  readonly lastXid: number
  readonly lastCompleted: number
  readonly serial: number
  /** The last epoch, whether this server began it, and the clock by which epochs are numbered. */
  readonly epoch: number
  readonly isOurs: boolean
  readonly clock: number
  readonly setBack: boolean
  readonly changes: number
}

/** Before its event, and again when a change undid it. */
export const WAITING: Writer = { phase: "waiting", xid: 0, serial: 0 }
/** Committed or rolled back: its transaction id is of no use any more. */
export const DONE: Writer = { phase: "done", xid: 0, serial: 0 }

/** Whether the database has the event of a place. */
export const has = (events: ReadonlyArray<FeedPlace>, place: FeedPlace): boolean =>
  place.epoch === 0 || events.some((one) => comparePlaces(one, place) === 0 && one.receivedAt === place.receivedAt)

/** Writers and readers differ only in what they did: states in which they did the same are equal. */
export const canonical = (state: State): State => ({
  ...state,
  writers: [...state.writers].sort((one, other) =>
    one.phase === other.phase ? one.serial - other.serial : one.phase < other.phase ? -1 : 1,
  ),
  readers: state.readers.length < 2 ? state.readers : sortedByKey(state.readers),
})

const sortedByKey = <A>(all: ReadonlyArray<A>): ReadonlyArray<A> =>
  all
    .map((one) => [keyOf(one), one] as const)
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([, one]) => one)

/** The rules: nothing is skipped, and nothing is seen twice unless the database was set back. */
export const brokenRule = ({ readers, events }: State): string | null => {
  for (const { at, seen, repeated } of readers) {
    if (repeated) return "a reader saw an event twice"
    // A position that the database lacks is resumed from an earlier one.
    if (!has(events, at)) continue
    const skipped = events.find((one) => comparePlaces(one, at) <= 0 && !seen.includes(Number(one.receivedAt)))
    if (skipped !== undefined) return `a reader never sees event ${skipped.receivedAt}`
  }
  return null
}

/** One line of a trace. */
export const show = ({ writers, readers, events }: State): string => {
  const committed = events.map(({ epoch, xid, receivedAt }) => `${receivedAt} at ${epoch}.${xid}`).join(", ")
  const seen = readers.map(({ at, seen: serials }) => `[${serials.join(" ")}] at ${at.epoch}.${at.xid}`).join(", ")
  return `${writers.map(({ phase }) => phase).join(", ")}; events ${committed || "none"}; seen ${seen}`
}
