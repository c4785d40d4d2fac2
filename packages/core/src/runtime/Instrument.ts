/**
 * A stage of the work, seen from outside: how often it ran, how it ended and how long it took as a metric, and as a span
 * where traces are wanted. It changes nothing about the work, and says nothing of what the work is about: no address, no
 * field, no value.
 */
import { Clock, Context, Effect, Exit, Metric, Option, References, Tracer } from "effect"
import type { Ask } from "./Course.ts"

/** Closed, so that what is watched can be listed. */
export type StepName =
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

const timer = (stage: StepName, outcome: Outcome) =>
  Metric.histogram("stage_milliseconds", {
    description: "How long a stage of the work took, in milliseconds, by stage and by how it ended.",
    boundaries: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 60_000],
    attributes: { stage, outcome },
  })

// Few, and looked up with every event: a metric that is given its attributes each time works out its name again.
const series: Record<Outcome, Map<StepName, ReturnType<typeof timer>>> = {
  ok: new Map(),
  interrupted: new Map(),
  failed: new Map(),
}

const seriesOf = (name: StepName, outcome: Outcome): ReturnType<typeof timer> => {
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

const count = (
  name: StepName,
  began: number,
  exit: Exit.Exit<unknown, unknown>,
  context: Context.Context<never>,
): void => seriesOf(name, outcomeOf(exit)).updateUnsafe(performance.now() - began, context)

export const instrument = <A, E, R>(name: StepName, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const { context } = fiber
    const began = performance.now()
    const timed = Effect.onExit(work, (exit) => {
      count(name, began, exit, context)
      return Effect.void
    })
    return fiber.getRef(References.TracerEnabled) ? Effect.withSpan(timed, name) : timed
  })

/** The same of a question, from when it is asked to its answer. */
export const instrumentAsk =
  <A, E>(name: StepName, question: Ask<A, E>): Ask<A, E> =>
  (answer, context) => {
    const began = performance.now()
    const clock = Context.get(context, Clock.Clock)
    const span = Context.get(context, References.TracerEnabled)
      ? spanOf(name, clock.currentTimeNanosUnsafe(), context)
      : undefined
    let answered = false
    return question((exit) => {
      if (answered) return
      answered = true
      count(name, began, exit, context)
      span?.end(clock.currentTimeNanosUnsafe(), exit)
      answer(exit)
    }, context)
  }

/** A span as `Effect.withSpan` begins it: under the one that the context names, and taken down if that one is. */
const spanOf = (name: StepName, startTime: bigint, context: Context.Context<never>): Tracer.Span => {
  const parent = Context.getOption(context, Tracer.ParentSpan)
  return Context.get(context, Tracer.Tracer).span({
    name,
    parent,
    annotations: Context.empty(),
    links: [],
    startTime,
    kind: "internal",
    root: false,
    sampled: Option.isNone(parent) || parent.value.sampled,
  })
}
