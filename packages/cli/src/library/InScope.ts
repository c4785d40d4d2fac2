/**
 * Opens a part of the library with the program's own log, in a scope that is closed if opening fails.
 */
import { Effect, Exit, Layer, Scope } from "effect"
import type { StartError } from "../error/StartError.ts"
import * as Traces from "../output/Traces.ts"
import { fromCause } from "./CabinetError.ts"
import * as HostLog from "./HostLog.ts"

/** How long closing waits for work in flight, unless another time is given. */
export const GRACE_MILLIS = 10_000

/** Opens it, and rejects with a CabinetError if it fails. The opened object closes the scope later. */
export const inScope = async <A>(
  log: HostLog.ProgramLog | undefined,
  open: (scope: Scope.Closeable) => Effect.Effect<A, StartError, Scope.Scope>,
): Promise<A> => {
  const opening = Effect.gen(function* () {
    const scope = yield* Scope.make()
    return yield* open(scope).pipe(
      Effect.provideService(Scope.Scope, scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause))),
    )
  })
  const exit = await Effect.runPromiseExit(Effect.provide(opening, Layer.merge(HostLog.layer(log), Traces.layer(null))))
  if (Exit.isFailure(exit)) throw fromCause(exit.cause)
  return exit.value
}
