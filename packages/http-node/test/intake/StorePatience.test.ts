import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { storePatience } from "../../src/intake/StorePatience.ts"

const late = new StoreUnavailable({ message: "late", retryAfter: 1, outcomeUnknown: false })

it.effect("storePatience gives the steps of a request one allowance, which the time between them does not use up", () =>
  Effect.gen(function* () {
    const patience = storePatience(9_000)
    const steps = yield* Effect.forkChild(
      Effect.gen(function* () {
        yield* patience(Effect.sleep(4_000), late)
        yield* Effect.sleep(60_000)
        yield* patience(Effect.sleep(4_000), late)
        return yield* Effect.flip(patience(Effect.never, late))
      }),
    )
    yield* TestClock.adjust(68_999)
    assert.isUndefined(steps.pollUnsafe())
    yield* TestClock.adjust(1)
    assert.strictEqual(yield* Fiber.join(steps), late)
  }),
)
