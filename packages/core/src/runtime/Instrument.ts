/**
 * Instruments a step of the work: its count, outcome and duration as a metric, and a span if tracing is enabled. It does
 * not affect the work, and records nothing of its content: no address, no field, no value.
 */
import { Clock, Context, Effect, Exit, Metric, Option, References, Result, Tracer } from "effect"

/** A closed list, so that the metrics can be enumerated. */
export type StepName =
  | "intake.parse"
  | "intake.accept"
  | "rows.read"
  | "event.list"
  | "feed.page"
  | "delivery.attempt"
  | "import.stage"
  | "import.accept"
  | "poll.run"
  | "retention.round"

/** `failed` is an error or a fault; interrupted work (a client that disconnected) is neither. */
type Outcome = "ok" | "interrupted" | "failed"

const timer = (step: StepName, outcome: Outcome) =>
  Metric.histogram("step_duration_seconds", {
    description: "Duration of a processing step, in seconds, by step and outcome.",
    boundaries: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
    attributes: { step, outcome },
  })

// Few, and looked up for every event: a metric that gets its attributes on each use computes its key again.
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

const count = (name: StepName, outcome: Outcome, began: number, context: Context.Context<never>): void =>
  seriesOf(name, outcome).updateUnsafe((performance.now() - began) / 1000, context)

export const instrument = <A, E, R>(name: StepName, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const { context } = fiber
    const began = performance.now()
    const timed = Effect.onExit(work, (exit) => {
      count(name, outcomeOf(exit), began, context)
      return Effect.void
    })
    return fiber.getRef(References.TracerEnabled) ? Effect.withSpan(timed, name) : timed
  })

/** The default tracer, whose spans go nowhere. */
const UNHEARD = Context.get(Context.empty(), Tracer.Tracer)

/** Whether spans are collected. */
export const isTraced = (context: Context.Context<never>): boolean =>
  Context.get(context, References.TracerEnabled) && Context.get(context, Tracer.Tracer) !== UNHEARD

/** A step that is not an Effect, from beginning to end; its duration is recorded once, by `end`, `abort` or `fault`. */
class Step {
  readonly #name: StepName
  readonly #context: Context.Context<never>
  readonly #span: Tracer.Span | undefined
  readonly #began = performance.now()

  constructor(name: StepName, context: Context.Context<never>) {
    this.#name = name
    this.#context = context
    this.#span = isTraced(context) ? spanOf(name, context) : undefined
  }

  end(result: Result.Result<unknown, unknown>): void {
    count(this.#name, Result.isSuccess(result) ? "ok" : "failed", this.#began, this.#context)
    if (this.#span !== undefined) {
      this.#endSpan(this.#span, Result.isSuccess(result) ? Exit.void : Exit.fail(result.failure))
    }
  }

  /** Its caller has left. */
  abort(): void {
    count(this.#name, "interrupted", this.#began, this.#context)
    if (this.#span !== undefined) this.#endSpan(this.#span, Exit.interrupt())
  }

  fault(fault: unknown): void {
    count(this.#name, "failed", this.#began, this.#context)
    if (this.#span !== undefined) this.#endSpan(this.#span, Exit.die(fault))
  }

  #endSpan(span: Tracer.Span, exit: Exit.Exit<unknown, unknown>): void {
    span.end(Context.get(this.#context, Clock.Clock).currentTimeNanosUnsafe(), exit)
  }
}

/** Begins a step of the request with this context: its span, if there is one, is a child of the context's span. */
export const beginStep = (name: StepName, context: Context.Context<never>): Step => new Step(name, context)

/** Creates a span as `Effect.withSpan` does: a child of the context's span, and sampled if that span is. */
const spanOf = (name: StepName, context: Context.Context<never>): Tracer.Span => {
  const parent = Context.getOption(context, Tracer.ParentSpan)
  return Context.get(context, Tracer.Tracer).span({
    name,
    parent,
    annotations: Context.empty(),
    links: [],
    startTime: Context.get(context, Clock.Clock).currentTimeNanosUnsafe(),
    kind: "internal",
    root: false,
    sampled: Option.isNone(parent) || parent.value.sampled,
  })
}
