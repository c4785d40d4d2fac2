import { deadlines } from "@data-cabinet/core/cabinet/Deadlines"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { withPatience } from "../../src/intake/StorePatience.ts"

const late = (message: string) => new StoreUnavailable({ message, retryAfter: 1, outcomeUnknown: false })

it.effect("withPatience gives the steps of a request one allowance, which the time besides does not use up", () =>
  Effect.gen(function* () {
    const ends = yield* deadlines
    let interrupted = false
    const work = withPatience(ends, 9_000, late("at first"), (patience) =>
      Effect.gen(function* () {
        yield* Effect.sleep(4_000)
        yield* patience.besides(Effect.sleep(60_000))
        patience.late = late("later")
        yield* Effect.sleep(4_000)
        return yield* Effect.onInterrupt(Effect.never, () => Effect.sync(() => (interrupted = true)))
      }),
    )
    const steps = yield* Effect.forkChild(work)
    yield* TestClock.adjust(68_999)
    assert.isUndefined(steps.pollUnsafe())
    yield* TestClock.adjust(1_000)
    assert.strictEqual((yield* Effect.flip(Fiber.join(steps))).message, "later")
    assert.isTrue(interrupted)
  }).pipe(Effect.scoped),
)

it.effect("withPatience goes on when the one who asked goes away", () =>
  Effect.gen(function* () {
    const ends = yield* deadlines
    let done = false
    const work = withPatience(ends, 9_000, late("late"), () =>
      Effect.andThen(
        Effect.sleep(2_000),
        Effect.sync(() => (done = true)),
      ),
    )
    const steps = yield* Effect.forkChild(work)
    yield* Effect.yieldNow
    const gone = yield* Effect.forkChild(Fiber.interrupt(steps))
    yield* TestClock.adjust(2_000)
    yield* Fiber.join(gone)
    assert.isTrue(done)
  }).pipe(Effect.scoped),
)
