/**
 * Counts attempts, in every serving process; one of them at a time does the work. Attempts are in no order of the feed,
 * so no follower counts them.
 */
import { Effect, Layer } from "effect"
import { background } from "../runtime/Background.ts"
import { ActivityStore } from "./ActivityStore.ts"

const PAUSE_MILLIS = 15_000
/** The pause between two transactions while more remains: a long count leaves the database to others. */
const BREATH_MILLIS = 100

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* ActivityStore
    // An unavailable database is reported by everything that needs it.
    yield* background("attempt count", (more) => (more ? BREATH_MILLIS : PAUSE_MILLIS), store.countAttempts, {
      retryAfter: PAUSE_MILLIS,
      quiet: true,
    })
  }),
)
