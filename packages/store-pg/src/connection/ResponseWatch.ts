/**
 * All groups of sessions with one database, so that the silence of one is asked of all. Whoever finds its own sessions
 * silent costs a request or more; the others are then looked at before anybody waits for them, those too that stand idle.
 */
import { Context, Effect, Latch, type Scope } from "effect"
import { closeIfUnresponsive, type Finding, type Suspect } from "./ResponseTimeout.ts"

const told = Effect.logWarning("connections to the database fell silent and were closed")

/** One that is asked something meanwhile may have been asked in vain: it is looked at once more. */
const lookedAt = (suspect: Suspect, since: () => number) =>
  Effect.flatMap(closeIfUnresponsive(suspect, since), (finding) =>
    finding === "answered" ? closeIfUnresponsive(suspect, since) : Effect.void,
  )

export class ResponseWatch extends Context.Service<
  ResponseWatch,
  {
    /** Has a group looked at whenever another one was found silent, until the scope closes. */
    readonly join: (suspect: Suspect, since?: () => number) => Effect.Effect<void, never, Scope.Scope>
    /** Has one looked at now, by somebody who waits for its answer (see cutIfSilent). */
    readonly look: (suspect: Suspect, owedSince: () => number | null) => Effect.Effect<Finding>
  }
>()("@data-cabinet/store-pg/connection/ResponseWatch") {
  /** Looks for as long as the scope is open. */
  static readonly make = Effect.gen(function* () {
    const members = new Set<readonly [suspect: Suspect, since: () => number]>()
    const found = Latch.makeUnsafe(false)
    yield* found.await.pipe(
      Effect.andThen(Effect.sync(() => found.closeUnsafe())),
      Effect.andThen(
        Effect.suspend(() =>
          Effect.forEach([...members], ([suspect, since]) => lookedAt(suspect, since), {
            concurrency: 3,
            discard: true,
          }),
        ),
      ),
      Effect.forever,
      Effect.forkScoped,
    )
    return ResponseWatch.of({
      join: (suspect, since = () => 0) => {
        const member = [suspect, since] as const
        return Effect.asVoid(
          Effect.acquireRelease(
            Effect.sync(() => members.add(member)),
            () => Effect.sync(() => members.delete(member)),
          ),
        )
      },
      look: (suspect, owedSince) =>
        Effect.tap(closeIfUnresponsive(suspect, owedSince), (finding) =>
          finding === "cut"
            ? Effect.andThen(
                told,
                Effect.sync(() => found.openUnsafe()),
              )
            : Effect.void,
        ),
    })
  })
}
