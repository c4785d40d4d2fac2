import { StoreUnavailable, whenAvailable } from "@data-cabinet/core/error/StoreUnavailable"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"

/** Unavailable this many times, then successful. */
const pageAfter = (times: number, retryAfter: number) => {
  let reads = 0
  const page = Effect.suspend(() =>
    reads++ < times
      ? Effect.fail(new StoreUnavailable({ message: "away", retryAfter, outcomeUnknown: false }))
      : Effect.succeed("page"),
  )
  return { page, reads: () => reads }
}

it.effect("whenAvailable waits as long as the refusal says, and at most a minute", () =>
  Effect.gen(function* () {
    for (const [retryAfter, seconds] of [
      [12, 12],
      [3_600, 60],
      [0, 1],
    ] as const) {
      const { page, reads } = pageAfter(1, retryAfter)
      const fiber = yield* Effect.forkChild(whenAvailable(page))
      yield* TestClock.adjust(`${seconds * 1_000 - 1} millis`)
      assert.strictEqual(reads(), 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(fiber), "page")
    }
  }),
)

it.effect("whenAvailable gives up after five waits, and does not retry other refusals", () =>
  Effect.gen(function* () {
    const { page, reads } = pageAfter(100, 1)
    const fiber = yield* Effect.forkChild(Effect.exit(whenAvailable(page)))
    yield* TestClock.adjust("10 minutes")
    assert.isTrue(Exit.isFailure(yield* Fiber.join(fiber)))
    assert.strictEqual(reads(), 6)
    assert.strictEqual(yield* Effect.flip(whenAvailable(Effect.fail("other"))), "other")
  }),
)
