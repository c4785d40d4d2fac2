/**
 * All groups of sessions with one database. When one group is found unresponsive, all are checked: the first discovery
 * costs a request or more, and the other groups, including idle ones, are then checked before any caller waits for
 * them.
 *
 * Decision: docs/decisions/0040-unresponsive-databases.md
 */
import { Context, Effect, Latch, type Scope } from "effect"
import { closeIfUnresponsive, type Finding, type Suspect } from "./ResponseTimeout.ts"

const warned = Effect.logWarning("connections to the database stopped responding and were closed")

/** A statement may have been sent and lost during the check: such a group is checked once more. */
const lookedAt = (suspect: Suspect, since: () => number) =>
  Effect.flatMap(closeIfUnresponsive(suspect, since), (finding) =>
    finding === "responded" ? closeIfUnresponsive(suspect, since) : Effect.void,
  )

export class ResponseWatch extends Context.Service<
  ResponseWatch,
  {
    /** Checks the group whenever another one was found unresponsive, until the scope closes. */
    readonly join: (suspect: Suspect, since?: () => number) => Effect.Effect<void, never, Scope.Scope>
    /** Checks the group now, for a caller that waits for its response (see closeIfUnresponsive). */
    readonly look: (suspect: Suspect, owedSince: () => number | null) => Effect.Effect<Finding>
  }
>()("@data-cabinet/store-pg/connection/ResponseWatch") {
  /** Checks for as long as the scope is open. */
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
                warned,
                Effect.sync(() => found.openUnsafe()),
              )
            : Effect.void,
        ),
    })
  })
}
