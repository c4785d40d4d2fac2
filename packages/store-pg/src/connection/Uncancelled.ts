/**
 * A session that never cancels a commit. PostgreSQL writes a commit to the local disk before it waits for a synchronous
 * standby. Cancelling the statement ends that wait: the transaction becomes visible although no standby has it, and is
 * lost in a failover. Without a cancellation, it becomes visible only once a standby has it. A statement within a
 * transaction commits nothing, so it may be cancelled.
 *
 * A caller that stops waiting therefore leaves the session to its statement. If the statement does not end soon, the
 * session is closed; within {@link lingering} it stays in its pool, so that abandoned statements cannot exhaust the
 * server.
 *
 * Decision: docs/decisions/0052-commits-are-never-cancelled.md
 */
import { Clock, Context, type Duration, Effect, Fiber } from "effect"
import { SqlError } from "effect/sql"

/**
 * Whether an interruption cancels the statement in flight even if it is a commit: for long work on data that the feed
 * does not show.
 */
export const Cancels = Context.Reference<boolean>("@data-cabinet/store-pg/connection/Cancels", {
  defaultValue: () => false,
})

/** How long an interruption waits for the statement in flight before its session is closed. */
const Patience = Context.Reference<Duration.Input>("@data-cabinet/store-pg/connection/Patience", {
  defaultValue: () => "1 second",
})

/** Keeps a session as long as its statement takes. No caller may await the fiber after interrupting it. */
export const lingering = Effect.provideService(Patience, "Infinity")

/** Milliseconds after which a statement is overdue, and the pause between two checks of it. */
const OVERDUE_MILLIS = 10_000
const CHECK_INTERVAL = "10 seconds"

/** Checks whether a response can still come; it gets the time since when one is owed (see closeIfUnresponsive). */
export type Overdue = (owedSince: () => number | null) => Effect.Effect<unknown>

const left = () => {
  const cause = new Error("The session was released while a statement was in flight")
  return new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause, message: cause.message, operation: "query" }),
  })
}

export class Uncancelled {
  readonly #close: Effect.Effect<void>
  readonly #overdue: Overdue
  readonly #isInTransaction: (context: Context.Context<never>) => boolean
  #isLeft = false

  /** `close` closes the session as soon as its pool has it back. */
  constructor(
    close: Effect.Effect<void>,
    overdue: Overdue,
    isInTransaction: (context: Context.Context<never>) => boolean,
  ) {
    this.#close = close
    this.#overdue = overdue
    this.#isInTransaction = isInTransaction
  }

  /** Runs a statement of the session; fails at once if an earlier one was left. */
  run<A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> {
    return Effect.contextWith((context: Context.Context<never>) => {
      if (this.#isLeft) return Effect.fail(left())
      if (this.#isInTransaction(context) || Context.get(context, Cancels)) return statement
      return Effect.callback<A, SqlError.SqlError>((resume) => {
        const stopLooking = lookAfter(this.#overdue, context)
        // A separate fiber, so that the driver does not notice an interruption.
        const fiber = Effect.runForkWith(context)(statement)
        fiber.addObserver((exit) => {
          stopLooking()
          resume(exit)
        })
        return this.#leave(fiber, Context.get(context, Patience))
      })
    })
  }

  #leave(fiber: Fiber.Fiber<unknown, unknown>, patience: Duration.Input): Effect.Effect<void> {
    return Effect.flatMap(Effect.timeoutOption(Fiber.await(fiber), patience), (ended) => {
      if (ended._tag === "Some") return Effect.void
      this.#isLeft = true
      return this.#close
    })
  }
}

const lookAfter = (overdue: Overdue, context: Context.Context<never>): (() => void) => {
  const clock = Context.get(context, Clock.Clock)
  const since = clock.currentTimeMillisUnsafe()
  let isOver = false
  let looking: Fiber.Fiber<unknown, unknown> | undefined
  const timer = setTimeout(() => {
    const look = Effect.andThen(
      overdue(() => (isOver ? null : since)),
      Effect.sleep(CHECK_INTERVAL),
    )
    looking = Effect.runForkWith(context)(Effect.forever(look))
  }, OVERDUE_MILLIS)
  timer.unref()
  return () => {
    isOver = true
    clearTimeout(timer)
    looking?.interruptUnsafe()
  }
}

/**
 * Ends work that keeps waiting for a response after it was interrupted. A silent database never sends one, and a stopping
 * process would wait for it.
 */
export const lookedAfter =
  (overdue: Overdue) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.contextWith((context: Context.Context<R>) => {
      const stopLooking = lookAfter(overdue, context)
      return Effect.ensuring(work, Effect.sync(stopLooking))
    })
