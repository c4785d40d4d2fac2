/** Counts events and attempts, in every serving process; one of them at a time does the work. */
import { Effect, Layer } from "effect"
import { background } from "../runtime/Background.ts"
import { ActivityStore } from "./ActivityStore.ts"

/** Events counted in one transaction. */
const BATCH = 10_000

const PAUSE_MILLIS = 15_000
/** The pause between two transactions while more remains: a long count leaves the database to others. */
const BREATH_MILLIS = 100

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* ActivityStore
    const count = Effect.zipWith(
      store.countEvents(BATCH),
      store.countAttempts,
      (events, attempts) => events === BATCH || attempts,
    )
    // An unavailable database is reported by everything that needs it.
    yield* background("activity count", (more) => (more ? BREATH_MILLIS : PAUSE_MILLIS), count, {
      retryAfter: PAUSE_MILLIS,
      quiet: true,
    })
  }),
)
