/**
 * Follows the end of the feed on behalf of all clients in this process that wait for events: one reader for any number
 * of them, and none while nobody waits. It reads when signalled, less often the more followers it has, and counts
 * events without reading them. So the cost to intake does not grow with the number of followers. A follower continues
 * from a cursor of the feed, and misses nothing.
 *
 * Decision: docs/decisions/0055-one-follower-a-process.md
 */
import { Clock, Context, Effect, Layer, type Scope } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { CursorKeys } from "../pagination/CursorKey.ts"
import { background } from "../runtime/Background.ts"
import { monotonicMillis } from "../runtime/Deadline.ts"
import type { FeedError } from "./FeedError.ts"
import { feedParams, writeCursor } from "./FeedParams.ts"
import { FeedSignal } from "./FeedSignal.ts"
import type { FeedPlace } from "./FeedStore.ts"
import { FeedTailStore } from "./FeedTailStore.ts"
import {
  type FollowFilter,
  type NewEvents,
  type WakeFilter,
  PAUSE_MILLIS,
  MAX_COUNTED,
  Sleeping,
  Waiting,
} from "./FeedListener.ts"
import { Tail } from "./FeedTail.ts"

/** A reader's subscription to the end of the feed. */
export interface Wakes {
  /** The end of the feed at the start; later events wake the follower. */
  readonly end: FeedPlace
  /** Completes as soon as there may be something new since it last completed. */
  readonly next: Effect.Effect<void>
}
const RETRY_MILLIS = 1_000

export class FeedFollower extends Context.Service<
  FeedFollower,
  {
    /** The cursor of the feed's end at present. */
    readonly end: (filter: FollowFilter) => Effect.Effect<string, StoreUnavailable>
    /**
     * Reads a cursor, and returns a function that follows the feed from there while its scope is open. That function
     * returns an effect that completes as soon as there are events since its last completion, all in one count.
     */
    readonly follow: (
      filter: FollowFilter,
      cursor: string,
    ) => Effect.Effect<
      Effect.Effect<Effect.Effect<NewEvents>, StoreUnavailable, Scope.Scope>,
      FeedError | StoreUnavailable
    >
    /** Wakes a reader that waits at a place of the feed, while the scope is open. */
    readonly wakes: (filter: WakeFilter, place: FeedPlace) => Effect.Effect<Wakes, StoreUnavailable, Scope.Scope>
  }
>()("@data-cabinet/core/feed/FeedFollower") {
  static readonly layer = Layer.effect(
    FeedFollower,
    Effect.gen(function* () {
      const store = yield* FeedTailStore
      const keys = yield* CursorKeys
      const clock = yield* Clock.Clock
      const tail = new Tail(store, yield* FeedSignal, () => monotonicMillis(clock))
      yield* background("feed follower", () => 0, tail.whileAnyone, { retryAfter: RETRY_MILLIS, quiet: true })
      return FeedFollower.of({
        end: (filter) =>
          Effect.flatMap(store.end, (place) => Effect.map(keys.key, (key) => writeCursor(key, filter, place))),
        follow: Effect.fnUntraced(function* (filter, cursor) {
          const key = yield* keys.key
          const { after } = yield* feedParams(key, pairsOf(filter, cursor))
          return Effect.gen(function* () {
            const waiting = new Waiting(filter, key)
            const from = yield* tail.join(waiting, after)
            const missed = yield* store.count({ ...filter, after, until: from, limit: MAX_COUNTED + 1 })
            // If the database was set back, it lacks the cursor's event: follow from its current end.
            if (missed !== null) waiting.addCounted(missed)
            return spaced(waiting.next)
          })
        }),
        wakes: (filter, place) =>
          Effect.suspend(() => {
            const sleeping = new Sleeping(filter)
            return Effect.map(tail.join(sleeping, place), (end) => ({ end, next: sleeping.next }))
          }),
      })
    }),
  )
}

const pairsOf = ({ sourceId, channel }: FollowFilter, cursor: string): ReadonlyArray<readonly [string, string]> => [
  ["cursor", cursor],
  ...(sourceId === null ? [] : [["source_id", String(sourceId)] as const]),
  ...(channel === null ? [] : [["channel", channel] as const]),
]

/** Completes no sooner than a pause after it last completed, whatever the pace of other followers. */
const spaced = (next: Effect.Effect<NewEvents>): Effect.Effect<NewEvents> => {
  let isFirst = true
  return Effect.suspend(() => {
    if (!isFirst) return Effect.andThen(Effect.sleep(PAUSE_MILLIS), next)
    isFirst = false
    return next
  })
}
