/**
 * The turn of `cabinet apply`: only one at a time changes a cabinet. It is a lease, because an apply may use the management
 * API, which holds no lock from one request to the next, and may be killed at any moment.
 */
import { randomUUID } from "node:crypto"
import { Context, Effect, Schedule } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** How long a turn lasts unless it is renewed, in seconds: a killed process loses it then. */
export const TURN_SECONDS = 15

/** The longest name of a holder. */
export const MAX_HOLDER_LENGTH = 100

export class ApplyTurn extends Context.Service<
  ApplyTurn,
  {
    /** Takes the turn, or renews it for its holder. False: another holder has it. */
    readonly take: (holder: string) => Effect.Effect<boolean, StoreUnavailable>
    /** Ends the turn of this holder, and of no other. */
    readonly end: (holder: string) => Effect.Effect<void, StoreUnavailable>
  }
>()("@data-cabinet/core/apply/ApplyTurn") {}

/**
 * Runs the work while no other apply runs; waits for a running one, after reporting that once. Call `renew` before each
 * change: it fails with `lost` if another apply has begun meanwhile.
 */
export const inTurn = <A, E, R, Lost>(
  work: (renew: Effect.Effect<void, Lost | StoreUnavailable>) => Effect.Effect<A, E, R>,
  { onWait, lost }: { readonly onWait: Effect.Effect<void>; readonly lost: Effect.Effect<never, Lost> },
) =>
  Effect.gen(function* () {
    const turn = yield* ApplyTurn
    const holder = randomUUID()
    const taken = turn.take(holder)
    const renew = Effect.flatMap(taken, (has) => (has ? Effect.void : lost))
    const waiting = Effect.repeat(taken, { schedule: Schedule.spaced("500 millis"), until: (has) => has })
    return yield* Effect.acquireUseRelease(
      Effect.flatMap(taken, (has) => (has ? Effect.void : Effect.andThen(onWait, Effect.asVoid(waiting)))).pipe(
        // A caller that gives up while waiting may have got the turn just then.
        Effect.onInterrupt(() => Effect.ignore(turn.end(holder))),
      ),
      () =>
        Effect.raceFirst(
          Effect.suspend(() => work(renew)),
          // A renewal that is under way is awaited: it would take the turn again after its end.
          Effect.forever(Effect.delay(Effect.uninterruptible(Effect.ignore(taken)), `${TURN_SECONDS / 3} seconds`)),
        ),
      () => Effect.ignore(turn.end(holder)),
    )
  })
