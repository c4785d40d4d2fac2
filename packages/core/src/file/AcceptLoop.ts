/** Accepts imports that no process holds, in every serving process: an import of a lost process continues by itself. */
import { Cause, Effect, Layer, Option, Schedule } from "effect"
import { AcceptStaged } from "./AcceptStaged.ts"
import { StagedImports } from "./StagedImports.ts"

const LOOK_MILLIS = 2000

/** How many imports one process accepts concurrently, each of another source. */
const RUNNERS = 2

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const imports = yield* StagedImports
    const accept = yield* AcceptStaged
    const next = Effect.gen(function* () {
      while (true) {
        const claimed = yield* imports.claim(null)
        if (Option.isNone(claimed)) return
        const giveBack = Effect.ignore(imports.release(claimed.value, null))
        yield* Effect.onInterrupt(accept.run(claimed.value), () => giveBack)
      }
    })
    const looping = (work: Effect.Effect<unknown, unknown>, millis: number) =>
      work.pipe(
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.interrupt
            : Effect.logWarning("an import will be taken up again", cause),
        ),
        Effect.repeat(Schedule.spaced(millis)),
        Effect.forkScoped,
      )
    for (let n = 0; n < RUNNERS; n++) yield* looping(next, LOOK_MILLIS)
    yield* looping(imports.sweep, 60_000)
  }),
)
