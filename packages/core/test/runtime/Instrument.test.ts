import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Metric, Option, References, Result, Tracer } from "effect"
import { beginStep, instrument, isTraced, type StepName } from "../../src/runtime/Instrument.ts"

interface Counted {
  readonly count: number
  /** Seconds. */
  readonly sum: number
}

/** The metrics of a step, by outcome. */
const countedOf = (step: StepName) =>
  Effect.map(
    Metric.snapshot,
    (all) =>
      new Map(
        all
          .filter(({ id, attributes }) => id === "step_duration_seconds" && attributes?.["step"] === step)
          .map(({ attributes, state }) => [String(attributes?.["outcome"]), state as Counted]),
      ),
  )

/** What work adds to the metrics of a step; the process's metrics may already contain other work. */
const addedBy = Effect.fnUntraced(function* <A, E, R>(step: StepName, work: Effect.Effect<A, E, R>) {
  const before = yield* countedOf(step)
  yield* work
  const after = yield* countedOf(step)
  return ["ok", "failed", "interrupted"].map((outcome) => ({
    count: (after.get(outcome)?.count ?? 0) - (before.get(outcome)?.count ?? 0),
    sum: (after.get(outcome)?.sum ?? 0) - (before.get(outcome)?.sum ?? 0),
  }))
})

/** A tracer that keeps its spans, and the context of a request with a span. */
const tracing = (sampled = true) => {
  const spans: Array<Tracer.Span> = []
  const native = Context.get(Context.empty(), Tracer.Tracer)
  const tracer = Tracer.make({
    span: (options) => {
      const span = native.span(options)
      spans.push(span)
      return span
    },
  })
  const ids = { spanId: "b7ad6b7169203331", traceId: "0af7651916cd43dd8448eb211c80319c" }
  const parent = Tracer.externalSpan({ ...ids, sampled })
  const alone = Context.make(Tracer.Tracer, tracer)
  return { spans, parent, alone, below: Context.add(alone, Tracer.ParentSpan, parent) }
}

it.effect("instrument counts each outcome of its work and does not change it", () =>
  Effect.gen(function* () {
    const work = Effect.gen(function* () {
      assert.strictEqual(yield* instrument("poll.run", Effect.succeed("a")), "a")
      assert.strictEqual(yield* instrument("poll.run", Effect.succeed("b")), "b")
      assert.strictEqual(yield* Effect.flip(instrument("poll.run", Effect.fail("no"))), "no")
      const waiting = yield* Effect.forkChild(instrument("poll.run", Effect.never), { startImmediately: true })
      yield* Fiber.interrupt(waiting)
    })
    assert.deepStrictEqual(
      (yield* addedBy("poll.run", work)).map(({ count }) => count),
      [2, 1, 1],
    )
  }),
)

it.effect("beginStep records the outcome of a step and its duration in seconds", () =>
  Effect.gen(function* () {
    const context = Context.empty()
    let began = 0
    const work = Effect.promise(async () => {
      began = performance.now()
      const steps = Array.from({ length: 4 }, () => beginStep("retention.round", context))
      await new Promise((resolve) => setTimeout(resolve, 20))
      steps[0]!.end(Result.succeed("a"))
      steps[1]!.end(Result.fail("no"))
      steps[2]!.fault(new Error("a fault"))
      steps[3]!.abort()
    })
    const added = yield* addedBy("retention.round", work)
    const elapsed = (performance.now() - began) / 1_000
    assert.deepStrictEqual(
      added.map(({ count }) => count),
      [1, 2, 1],
    )
    for (const { count, sum } of added) {
      assert.isAtLeast(sum, count * 0.015)
      assert.isAtMost(sum, count * elapsed)
    }
  }),
)

it("traces nothing if there is no collector", () => {
  const { alone, below } = tracing()
  const quiet = Context.add(below, References.TracerEnabled, false)
  // The default tracer's spans are not collected.
  assert.deepStrictEqual([alone, below, quiet, Context.empty()].map(isTraced), [true, true, false, false])
})

it("beginStep creates a span below the request's, which ends with the step", () => {
  const { spans, parent, below } = tracing()
  beginStep("retention.round", below).end(Result.succeed("a"))
  beginStep("retention.round", below).end(Result.fail("no"))
  beginStep("retention.round", below).abort()
  beginStep("retention.round", below).fault("a fault")
  beginStep("retention.round", Context.add(below, References.TracerEnabled, false)).end(Result.succeed("a"))
  assert.deepStrictEqual(
    spans.map(({ name, parent: under, kind, sampled }) => [name, Option.getOrUndefined(under)?.spanId, kind, sampled]),
    spans.map(() => ["retention.round", parent.spanId, "internal", true]),
  )
  assert.deepStrictEqual(
    spans.map(({ status }) => (status._tag === "Ended" ? status.exit : null)),
    [Exit.void, Exit.fail("no"), Exit.interrupt(), Exit.die("a fault")],
  )
})

it("a span is sampled if its request is, and always without a request", () => {
  for (const sampled of [true, false]) {
    const { spans, alone, below } = tracing(sampled)
    beginStep("rows.read", below)
    beginStep("rows.read", alone)
    assert.deepStrictEqual(
      spans.map((span) => span.sampled),
      [sampled, true],
    )
  }
})

it.effect("instrument creates a span if spans are collected", () =>
  Effect.gen(function* () {
    const { spans, below } = tracing()
    yield* instrument("feed.page", Effect.void).pipe(Effect.provide(below))
    yield* instrument("feed.page", Effect.void).pipe(
      Effect.provide(below),
      Effect.provideService(References.TracerEnabled, false),
    )
    assert.deepStrictEqual(
      spans.map(({ name }) => name),
      ["feed.page"],
    )
  }),
)
