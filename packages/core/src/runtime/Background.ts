/**
 * Repeats work in the background. Neither an error nor a fault in one run ends the repetition; only the end of the
 * scope does. A failing task logs one line, and one more when it works again, however long it fails meanwhile.
 */
import { Cause, Context, Duration, Effect, Exit, Metric, Random, type Scope } from "effect"

/** A closed list, so that the metrics can be enumerated. Log lines begin with the name. */
export type TaskName =
  | "activity count"
  | "attempt cleanup"
  | "attempt count"
  | "cold history"
  | "cold history watch"
  | "connection fit"
  | "database session watch"
  | "deferred row drain"
  | "delivery fan-out"
  | "delivery queue watch"
  | "destinations"
  | "disk watch"
  | "embedded PostgreSQL watch"
  | "feed fence watch"
  | "feed follower"
  | "filtered event count"
  | "follower watch"
  | "import acceptance"
  | "import sweep"
  | "import undo"
  | "notices"
  | "ordered deliveries"
  | "partition creation"
  | "poll lease renewal"
  | "poll loop"
  | "prepared transactions"
  | "rate window cleanup"
  | "receiver certificates"
  | "repeat window cleanup"
  | "used proof cleanup"
  | "report grants"
  | "report session cleanup"
  | "retention"
  | "shape learning"
  | "slow read count"
  | "standby watch"
  | "subscription cleanup"
  | "table rebuild cleanup"
  | "tenant registry reload"
  | "tenant registry whole"
  | "tenant round"
  | "tenant signal"

const runs = Metric.counter("background_runs_total", {
  description: "Runs of the tasks that a process repeats in the background, by task and by how they ended.",
  incremental: true,
})

/** What every first run waits for: a server that starts answers requests first. Default: nothing. */
export const BackgroundBegins = Context.Reference<Effect.Effect<void>>(
  "@data-cabinet/core/runtime/Background/BackgroundBegins",
  { defaultValue: () => Effect.void },
)

/** When to run, and what to log. */
export interface BackgroundOptions {
  /** The delay of the first run. Default: none. */
  readonly firstAfter?: Duration.Input
  /** The pause after a run that failed. Default: `every`, or a second if that depends on the result. */
  readonly retryAfter?: Duration.Input
  /**
   * Logs errors at level debug, because everything that needs the database reports that it is unavailable. Faults are
   * always warnings.
   */
  readonly quiet?: boolean
}

/**
 * The shortest share of a pause: random pauses keep processes that start together from staying in step. No pause is
 * longer than requested.
 */
const MIN_PAUSE_SHARE = 0.8

const jittered = (pause: Duration.Input): Effect.Effect<Duration.Duration> =>
  Effect.map(Random.next, (random) =>
    Duration.times(Duration.fromInputUnsafe(pause), MIN_PAUSE_SHARE + (1 - MIN_PAUSE_SHARE) * random),
  )

/** How the runs currently fail: a fault is logged even if errors of the same task were logged before. */
type Failing = "no" | "by an error" | "by a fault"

class Task<A, E, R> {
  readonly #name: TaskName
  readonly #every: Duration.Input | ((result: A) => Duration.Input)
  readonly #work: Effect.Effect<A, E, R>
  readonly #options: BackgroundOptions
  readonly #succeeded: Metric.Counter<number>
  readonly #failed: Metric.Counter<number>
  /** Written by each run; decides which runs are logged. */
  #failing: Failing = "no"

  constructor(
    name: TaskName,
    every: Duration.Input | ((result: A) => Duration.Input),
    work: Effect.Effect<A, E, R>,
    options: BackgroundOptions,
  ) {
    this.#name = name
    this.#every = every
    this.#work = work
    this.#options = options
    this.#succeeded = Metric.withAttributes(runs, { task: name, outcome: "ok" })
    this.#failed = Metric.withAttributes(runs, { task: name, outcome: "failed" })
  }

  get repeat(): Effect.Effect<never, never, R> {
    return Effect.gen({ self: this }, function* () {
      yield* yield* BackgroundBegins
      const { firstAfter } = this.#options
      if (firstAfter !== undefined) yield* Effect.sleep(yield* jittered(firstAfter))
      while (true) {
        const exit = yield* Effect.exit(this.#work)
        yield* Effect.sleep(
          Exit.isSuccess(exit) ? yield* this.#after(exit.value) : yield* this.#afterFailure(exit.cause),
        )
      }
    })
  }

  /** Returns the pause. */
  #after(result: A): Effect.Effect<Duration.Input> {
    const failing = this.#failing
    this.#failing = "no"
    const every = this.#every
    const pause = typeof every === "function" ? Effect.succeed(every(result)) : jittered(every)
    const counted = Effect.andThen(Metric.update(this.#succeeded, 1), pause)
    return failing === "no" ? counted : Effect.andThen(this.#log(failing, "Info", `${this.#name} works again`), counted)
  }

  #afterFailure(cause: Cause.Cause<E>): Effect.Effect<Duration.Input> {
    const every = this.#every
    const pause = this.#options.retryAfter ?? (typeof every === "function" ? "1 second" : every)
    // The process, or something the work waited for, is stopping.
    if (Cause.hasInterruptsOnly(cause)) return jittered(pause)
    const failing = Cause.hasDies(cause) ? "by a fault" : "by an error"
    const isKnown = this.#failing === failing || this.#failing === "by a fault"
    if (!isKnown) this.#failing = failing
    const message = `${this.#name} failed and will be retried; further failures are not logged until it works again`
    const counted = Effect.andThen(Metric.update(this.#failed, 1), jittered(pause))
    return isKnown ? counted : Effect.andThen(this.#log(failing, "Warn", message, cause), counted)
  }

  #log(failing: Failing, level: "Info" | "Warn", ...message: ReadonlyArray<unknown>): Effect.Effect<void> {
    const isQuiet = this.#options.quiet === true && failing !== "by a fault"
    return Effect.logWithLevel(isQuiet ? "Debug" : level)(...message)
  }
}

/**
 * Repeats work until the scope closes, which interrupts it. `every` is the pause between two runs, or returns it for the
 * result of a run; only the former is jittered.
 */
export const background = <A, E, R>(
  name: TaskName,
  every: Duration.Input | ((result: A) => Duration.Input),
  work: Effect.Effect<A, E, R>,
  options: BackgroundOptions = {},
): Effect.Effect<void, never, R | Scope.Scope> =>
  Effect.asVoid(Effect.forkScoped(new Task(name, every, work, options).repeat))
