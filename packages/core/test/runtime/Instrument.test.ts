import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Metric } from "effect"
import { instrument } from "../../src/runtime/Instrument.ts"

it.effect("instrument counts how its work ended, each outcome by itself, and changes nothing about it", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* instrument("poll.run", Effect.succeed("a")), "a")
    assert.strictEqual(yield* instrument("poll.run", Effect.succeed("b")), "b")
    assert.strictEqual(yield* Effect.flip(instrument("poll.run", Effect.fail("no"))), "no")
    const waiting = yield* Effect.forkChild(instrument("poll.run", Effect.never), { startImmediately: true })
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
