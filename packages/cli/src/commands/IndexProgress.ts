/** How far indexes are: a bar while one is built, and the columns of a list. */
import { Clock, Effect, type Scope } from "effect"
import { progressBar } from "../output/ProgressBar.ts"

interface SomeIndex {
  readonly valid: boolean
  readonly bytes: number
  readonly scans: number
  readonly progress: number | null
}

/** Runs until the scope ends. Drawn only on a terminal, so nothing else polls the progress. */
export const drawProgress = <E, R>(
  list: Effect.Effect<ReadonlyArray<SomeIndex>, E, R>,
): Effect.Effect<void, never, R | Scope.Scope> => {
  if (!process.stderr.isTTY) return Effect.void
  const bar = progressBar()
  const draw = Effect.gen(function* () {
    const part = (yield* list).find(({ progress }) => progress !== null)?.progress ?? null
    if (part !== null) bar.draw("Index", part, `${Math.floor(part * 100)} %`, yield* Clock.currentTimeMillis)
  })
  return Effect.forever(Effect.delay(Effect.ignore(draw), "500 millis")).pipe(
    Effect.ensuring(Effect.sync(() => bar.clear())),
    Effect.forkScoped,
    Effect.asVoid,
  )
}

/** Its state, its size and how often it was used. */
export const stateOf = ({ valid, progress, bytes, scans }: SomeIndex): ReadonlyArray<string> => [
  valid ? "ready" : progress === null ? "interrupted" : `${Math.floor(progress * 100)} %`,
  `${(bytes / 1_048_576).toFixed(1)} MB`,
  String(scans),
]
