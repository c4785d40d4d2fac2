/**
 * How long a sender waits for the store: one allowance for all that a request asks of it, however many steps that takes. The
 * time in which the body arrives is the sender's own and has its limits in `BodyLimits`.
 */
import type { Deadlines } from "@data-cabinet/core/cabinet/Deadlines"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { type Context, Effect } from "effect"

/** What the work says of itself while it goes on. */
export interface Patience {
  /** What the sender is told from here on if the time is up; the work is interrupted then. */
  late: StoreUnavailable
  /** Time that does not count. */
  readonly besides: <A, E, R>(step: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** The work's outcome, or `late` as it stands when the allowance is used up. A sender that goes away ends nothing. */
export const withPatience = <A, E, R>(
  deadlines: Deadlines,
  millis: number,
  late: StoreUnavailable,
  work: (patience: Patience) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StoreUnavailable, R> =>
  Effect.contextWith((context: Context.Context<R>) =>
    Effect.uninterruptible(
      Effect.callback((resume) => {
        const wait = deadlines.begin(millis, () => {
          resume(Effect.fail(patience.late))
          fiber.interruptUnsafe()
        })
        const patience: Patience = {
          late,
          besides: (step) =>
            Effect.suspend(() => {
              wait.pause()
              return Effect.tap(step, () => Effect.sync(() => wait.resume()))
            }),
        }
        const fiber = Effect.runForkWith(context)(work(patience))
        fiber.addObserver((exit) => {
          wait.end()
          resume(exit)
        })
      }),
    ),
  )
