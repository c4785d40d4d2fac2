import { assert, it } from "@effect/vitest"
import { Context, Effect, Fiber, Metric, Option, References, Result, Tracer } from "effect"
import { beginStep, instrument, isTraced } from "../../src/runtime/Instrument.ts"

it.effect("instrument counts each outcome of its work and changes nothing about it", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* instrument("poll.run", Effect.succeed("a")), "a")
    assert.strictEqual(yield* instrument("poll.run", Effect.succeed("b")), "b")
    assert.strictEqual(yield* Effect.flip(instrument("poll.run", Effect.fail("no"))), "no")
    const waiting = yield* Effect.forkChild(instrument("poll.run", Effect.never), { startImmediately: true })
    yield* Fiber.interrupt(waiting)
    const counts = (yield* Metric.snapshot)
      .filter(({ id, attributes }) => id === "step_duration_seconds" && attributes?.["step"] === "poll.run")
      .map(({ attributes, state }) => [attributes?.["outcome"], (state as { readonly count: number }).count])
    assert.sameDeepMembers(counts, [
      ["ok", 2],
      ["failed", 1],
      ["interrupted", 1],
    ])
  }),
)

it.effect("beginStep counts the outcome of a step, whose span is below the request's", () =>
  Effect.gen(function* () {
    const spans: Array<Tracer.Span> = []
    const native = Context.get(Context.empty(), Tracer.Tracer)
    const tracer = Tracer.make({
      span: (options) => {
        const span = native.span(options)
        spans.push(span)
        return span
      },
    })
    const parent = Tracer.externalSpan({ spanId: "b7ad6b7169203331", traceId: "0af7651916cd43dd8448eb211c80319c" })
    const traced = Context.add(Context.add(yield* Effect.context(), Tracer.Tracer, tracer), Tracer.ParentSpan, parent)
    const quiet = Context.add(traced, References.TracerEnabled, false)
    // Nobody collects what the tracer makes that is there by default.
    assert.deepStrictEqual([traced, quiet, Context.empty()].map(isTraced), [true, false, false])
    beginStep("retention.round", traced).end(Result.succeed("a"))
    beginStep("retention.round", traced).end(Result.fail("no"))
    beginStep("retention.round", quiet).fault(new Error("a fault"))
    const counts = (yield* Metric.snapshot)
      .filter(({ id, attributes }) => id === "step_duration_seconds" && attributes?.["step"] === "retention.round")
      .map(({ attributes, state }) => [attributes?.["outcome"], (state as { readonly count: number }).count])
    assert.sameDeepMembers(counts, [
      ["ok", 1],
      ["failed", 2],
    ])
    assert.deepStrictEqual(
      spans.map(({ name, parent: under, status }) => [name, Option.getOrUndefined(under)?.spanId, status._tag]),
      [
        ["retention.round", parent.spanId, "Ended"],
        ["retention.round", parent.spanId, "Ended"],
      ],
    )
  }),
)
