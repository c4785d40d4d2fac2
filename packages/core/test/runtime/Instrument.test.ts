import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Metric } from "effect"
import { stage } from "../../src/runtime/Instrument.ts"

it.effect("stage counts how its work ended, each outcome by itself, and changes nothing about it", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* stage("poll.run", Effect.succeed("a")), "a")
    assert.strictEqual(yield* stage("poll.run", Effect.succeed("b")), "b")
    assert.strictEqual(yield* Effect.flip(stage("poll.run", Effect.fail("no"))), "no")
    const waiting = yield* Effect.forkChild(stage("poll.run", Effect.never), { startImmediately: true })
    yield* Fiber.interrupt(waiting)
    const counts = (yield* Metric.snapshot)
      .filter(({ id, attributes }) => id === "stage_milliseconds" && attributes?.["stage"] === "poll.run")
      .map(({ attributes, state }) => [attributes?.["outcome"], (state as { readonly count: number }).count])
    assert.sameDeepMembers(counts, [
      ["ok", 2],
      ["failed", 1],
      ["interrupted", 1],
    ])
  }),
)
