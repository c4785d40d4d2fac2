/**
 * A stage of the work, seen from outside: how often it ran, how it ended and how long it took as a metric, and as a span
 * where traces are wanted. It changes nothing about the work, and says nothing of what the work is about: no address, no
 * field, no value.
 */
import { Clock, Effect, Exit, Metric, References } from "effect"

/** Closed, so that what is watched can be listed. */
export type StageName =
  | "intake.parse"
  | "intake.accept"
  | "rows.read"
  | "feed.page"
  | "delivery.attempt"
  | "import.stage"
  | "import.accept"
  | "poll.run"
  | "retention.round"

/** `failed` is an error or a fault; work that was broken off (a client that hung up) is neither. */
type Outcome = "ok" | "interrupted" | "failed"

const timer = (stage: StageName, outcome: Outcome) =>
  Metric.histogram("stage_milliseconds", {
    description: "How long a stage of the work took, in milliseconds, by stage and by how it ended.",
    boundaries: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 60_000],
    attributes: { stage, outcome },
  })

// Few, and looked up with every event: a metric that is given its attributes each time works out its name anew.
const series: Record<Outcome, Map<StageName, ReturnType<typeof timer>>> = {
  ok: new Map(),
  interrupted: new Map(),
  failed: new Map(),
}

const seriesOf = (name: StageName, outcome: Outcome): ReturnType<typeof timer> => {
  const ofOutcome = series[outcome]
  let one = ofOutcome.get(name)
  if (one === undefined) {
    one = timer(name, outcome)
    ofOutcome.set(name, one)
  }
  return one
}

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): Outcome =>
  Exit.isSuccess(exit) ? "ok" : Exit.hasInterrupts(exit) ? "interrupted" : "failed"

export const stage = <A, E, R>(name: StageName, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const { context } = fiber
    const clock = fiber.getRef(Clock.Clock)
    const began = clock.currentTimeNanosUnsafe()
    const timed = Effect.onExit(work, (exit) => {
      const millis = Number(clock.currentTimeNanosUnsafe() - began) / 1e6
      seriesOf(name, outcomeOf(exit)).updateUnsafe(millis, context)
      return Effect.void
    })
    return fiber.getRef(References.TracerEnabled) ? Effect.withSpan(timed, name) : timed
  })
