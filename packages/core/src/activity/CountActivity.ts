/** Counts events and attempts behind the feed, in every serving process. */
import { Effect, Layer } from "effect"
import type { FollowerKind } from "../follower/FollowerLoop.ts"
import { ActivityStore } from "./ActivityStore.ts"
import { background } from "../runtime/Background.ts"

/** The kind and the name of the follower. */
export const ACTIVITY = "activity"

/** Events counted in one transaction. */
const BATCH = 10_000

/** The pause at the end of the feed. Counting at each accept would slow intake down. */
const REST_MILLIS = 15_000

/** Counts events, in the order of the feed. */
export const activityFollower: FollowerKind<ActivityStore> = {
  kind: ACTIVITY,
  task: "activity count",
  restMillis: REST_MILLIS,
  pollMillis: REST_MILLIS,
  turn: (held) =>
    Effect.map(
      ActivityStore.use((store) => store.countEvents(BATCH, held)),
      (counted) => (counted === null ? "lost" : counted === BATCH ? "more" : "end"),
    ),
}

const PAUSE_MILLIS = 15_000
/** The pause between two transactions while more remains: a long count leaves the database to others. */
const BREATH_MILLIS = 100

/** One process at a time does the work. Attempts have no place in the feed, so no follower counts them. */
export const attemptCount = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* ActivityStore
    // An unavailable database is reported by everything that needs it.
    yield* background("attempt count", (more) => (more ? BREATH_MILLIS : PAUSE_MILLIS), store.countAttempts, {
      retryAfter: PAUSE_MILLIS,
      quiet: true,
    })
  }),
)
