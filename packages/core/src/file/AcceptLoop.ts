/**
 * Accepts imports that no process holds, in every serving process, so that an import continues after its process is
 * lost.
 */
import { Effect, Layer, Option } from "effect"
import { background } from "../runtime/Background.ts"
import { AcceptStaged } from "./AcceptStaged.ts"
import { ImportStore } from "./ImportStore.ts"

const CHECK_MILLIS = 2000

/** How many imports one process accepts concurrently, each of another source. */
const RUNNERS = 2

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const imports = yield* ImportStore
    const accept = yield* AcceptStaged
    const next = Effect.gen(function* () {
      while (true) {
        const claimed = yield* imports.claim(null)
        if (Option.isNone(claimed)) return
        const giveBack = Effect.ignore(imports.release(claimed.value, null))
        yield* Effect.onInterrupt(accept.run(claimed.value), () => giveBack).pipe(
          // It was cancelled, or another process holds it: nothing failed.
          Effect.catchTag("LeaseLost", () => Effect.void),
        )
      }
    })
    for (let n = 0; n < RUNNERS; n++) yield* background("import acceptance", CHECK_MILLIS, next)
    yield* background("import sweep", "1 minute", imports.sweep)
  }),
)
