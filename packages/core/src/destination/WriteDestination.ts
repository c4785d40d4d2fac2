/**
 * Writes the feed to destinations: a follower, of which one process at a time has the lease. The end of a slice is stored
 * before the slice is written, so that a process which repeats it writes the same one: after a crash, and also beside a
 * process that was stopped for longer than its lease.
 *
 * What the place itself says about its last event counts if it is further than the stored position: either a process
 * ended between the two, or the database was set back. If it is less far, the user has taken files away, and they are not
 * written again.
 *
 * Decision: docs/decisions/0099-destinations-get-slices-with-planned-ends.md
 */
import { Clock, Effect, Option } from "effect"
import { type FeedPage, type FeedPlace, FeedStore } from "../feed/FeedStore.ts"
import { comparePlaces } from "../feed/FeedTrail.ts"
import { FeedTailStore } from "../feed/FeedTailStore.ts"
import { actUntil } from "../follower/FollowerLease.ts"
import type { FollowerKind, TurnEnd } from "../follower/FollowerLoop.ts"
import { type HeldFollower, LEASE_MILLIS } from "../follower/FollowerStore.ts"
import type { Items } from "../pagination/Items.ts"
import { MAX_LIMIT } from "../pagination/Page.ts"
import { DESTINATION, DestinationAdapters, DestinationFailure, type FeedSlice } from "./Destination.ts"
import { DestinationStore, type DestinationWork } from "./DestinationStore.ts"

/** How long a destination at the end of the feed collects events for its next slice. */
const REST_MILLIS = 60_000

/** A slice ends after this many bytes of events, which are held in memory, or this many events. */
const SLICE_BYTES = 16 * 1_048_576
const SLICE_EVENTS = 100_000

/** How many destinations a process serves at once: each holds the events of a slice, and the file that is made of them. */
const AT_ONCE = 4

/** A write that takes longer fails, so that it does not hold up other destinations. */
const WRITE_SECONDS = 15

/** The longest opening: a slice needs the rest of the lease. */
const OPEN_SECONDS = 15

/** How often the opening of a place checks that the destination is still held, and not paused. */
const LOOK_MILLIS = 1_000

/** How much of the lease is left when a slice appears at the latest. */
const MARGIN_MILLIS = 2_000

const isAfter = (one: FeedPlace, other: FeedPlace): boolean => comparePlaces(one, other) > 0

const later = (one: FeedPlace, other: FeedPlace | null): FeedPlace =>
  other !== null && isAfter(other, one) ? other : one

/** What was read of the feed. */
interface Reading {
  readonly events: ReadonlyArray<Items>
  /** For each of them, the place of an event. */
  readonly places: ReadonlyArray<FeedPage["behind"]>
  /** Of the last event; null without one. */
  readonly to: FeedPlace | null
  readonly hasMore: boolean
}

/** How many of a page's events are not after the planned end. */
const within = (count: number, placeAt: (index: number) => FeedPlace, end: FeedPlace): number => {
  let kept = count
  while (kept > 0 && isAfter(placeAt(kept - 1), end)) kept--
  return kept
}

/** Reads up to the planned end, or as much as fits a slice. */
const readSlice = Effect.fnUntraced(function* (
  { destination: { sources } }: DestinationWork,
  from: FeedPlace,
  end: FeedPlace | null,
  mostEvents: number,
) {
  const feed = yield* FeedStore
  const events: Array<Items> = []
  const places: Array<FeedPage["behind"]> = []
  let to: FeedPlace | null = null
  let [bytes, count] = [0, 0]
  for (;;) {
    const after: FeedPlace = to ?? from
    const filter = sources === null ? {} : { sources }
    const page: FeedPage = yield* feed.page({
      after,
      limit: MAX_LIMIT,
      sourceId: null,
      channel: null,
      exactly: true,
      ...filter,
    })
    const kept = end === null ? page.items.length : within(page.items.length, page.behind, end)
    if (kept > 0) {
      events.push(page.items.first(kept))
      places.push(page.behind)
      to = page.behind(kept - 1)
      bytes += page.items.byteLength
      count += kept
    }
    const isCut = kept < page.items.length
    const isFull = end === null && (bytes >= SLICE_BYTES || count >= mostEvents)
    if (isCut || isFull || !page.hasMore) {
      const reading: Reading = { events, places, to, hasMore: isCut || page.hasMore }
      return reading
    }
  }
})

const tooSlow = () =>
  Effect.fail(new DestinationFailure({ message: `It did not take a slice of events within ${WRITE_SECONDS} seconds.` }))

const notReached = () =>
  Effect.fail(new DestinationFailure({ message: `It was not reached within ${OPEN_SECONDS} seconds.` }))

/** Completes when the destination is no longer held, or is paused. Returns how the turn ends. */
const unheld = Effect.fnUntraced(function* (store: DestinationStore["Service"], held: HeldFollower) {
  for (;;) {
    yield* Effect.sleep(LOOK_MILLIS)
    const work = yield* store.work(held)
    if (work === "lost") return "lost"
    if (Option.isNone(work)) return "end"
  }
})

/** The opened destination, or how the turn ends: another process took it meanwhile, or a person paused it. */
const open = Effect.fnUntraced(function* (held: HeldFollower, { destination }: DestinationWork) {
  const store = yield* DestinationStore
  const opening = DestinationAdapters.use((adapters) => adapters.open(destination))
  return yield* Effect.raceFirst(
    Effect.timeoutOrElse(opening, { duration: `${OPEN_SECONDS} seconds`, orElse: notReached }),
    unheld(store, held),
  )
})

const write = Effect.fnUntraced(function* (held: HeldFollower, work: DestinationWork, startedAt: number) {
  const store = yield* DestinationStore
  const clock = yield* Clock.Clock
  const opened = yield* open(held, work)
  if (typeof opened === "string") return opened
  const place = later(work.place, yield* opened.position(work.place))
  if (isAfter(place, work.place) && !(yield* store.move(held, place))) return "lost"
  // Before the events are read: what is below it is among them.
  const tail = yield* FeedTailStore.use(({ end }) => end)
  const planned = work.planned !== null && isAfter(work.planned, place) ? work.planned : null
  const mostEvents = Math.min(opened.mostEvents ?? SLICE_EVENTS, SLICE_EVENTS)
  const { events, places, to, hasMore } = yield* readSlice(work, place, planned, mostEvents)
  const passed = later(to ?? place, planned ?? (hasMore ? null : tail))
  if (to !== null) {
    if (planned === null && !(yield* store.plan(held, to))) return "lost"
    const until = actUntil(startedAt, LEASE_MILLIS, MARGIN_MILLIS)
    const slice: FeedSlice = {
      from: place,
      to: planned ?? to,
      events,
      placeOf: (page, index) => places[page]!(index),
      mayAppear: () => clock.currentTimeMillisUnsafe() < until,
    }
    yield* Effect.timeoutOrElse(opened.write(slice), { duration: `${WRITE_SECONDS} seconds`, orElse: tooSlow })
  }
  if (isAfter(passed, place) && !(yield* store.move(held, passed))) return "lost"
  if (hasMore || planned !== null) return "again"
  return opened.mostEvents === undefined ? "end" : "soon"
}, Effect.scoped)

type Needs = DestinationStore | DestinationAdapters | FeedStore | FeedTailStore

/** The followers that serve destinations, some side by side, each turn one slice. */
export const destinationFollower: FollowerKind<Needs> = {
  kind: DESTINATION,
  task: "destinations",
  restMillis: REST_MILLIS,
  pollMillis: 5_000,
  atOnce: AT_ONCE,
  turn: Effect.fnUntraced(function* (held): Effect.fn.Return<TurnEnd, Error, Needs> {
    const startedAt = yield* Clock.currentTimeMillis
    const work = yield* DestinationStore.use((store) => store.work(held))
    if (work === "lost") return "lost"
    return Option.isNone(work) ? "end" : yield* write(held, work.value, startedAt)
  }),
}
