import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { type Answer, asked } from "../../src/runtime/Course.ts"
import { timerWheel } from "../../src/runtime/TimerWheel.ts"

it.effect("TimerWheel times a timer out after its time, not before, and once", () =>
  Effect.gen(function* () {
    const ends = yield* timerWheel
    let given = 0
    ends.begin(1_000, () => given++)
    yield* TestClock.adjust(999)
    assert.strictEqual(given, 0)
    yield* TestClock.adjust(501)
    assert.strictEqual(given, 1)
    yield* TestClock.adjust(10_000)
    assert.strictEqual(given, 1)
  }).pipe(Effect.scoped),
)

it.effect("TimerWheel does not count a pause, and forgets a timer that has ended", () =>
  Effect.gen(function* () {
    const ends = yield* timerWheel
    let given = 0
    const paused = ends.begin(1_000, () => given++)
    const over = ends.begin(1_000, () => given++)
    yield* TestClock.adjust(500)
    paused.pause()
    over.end()
    yield* TestClock.adjust(60_000)
    assert.strictEqual(given, 0)
    paused.resume()
    yield* TestClock.adjust(400)
    assert.strictEqual(given, 0)
    yield* TestClock.adjust(850)
    assert.strictEqual(given, 1)
  }).pipe(Effect.scoped),
)

it.effect("TimerWheel restarts a timer that is renewed, in a pause too", () =>
  Effect.gen(function* () {
    const ends = yield* timerWheel
    let given = 0
    const renewed = ends.begin(1_000, () => given++)
    const paused = ends.begin(1_000, () => given++)
    yield* TestClock.adjust(750)
    renewed.renew()
    paused.pause()
    paused.renew()
    paused.resume()
    yield* TestClock.adjust(999)
    assert.strictEqual(given, 0)
    yield* TestClock.adjust(501)
    assert.strictEqual(given, 2)
  }).pipe(Effect.scoped),
)

it.effect("TimerWheel.ask is what is answered in time, and what stands for it once it is withdrawn", () =>
  Effect.gen(function* () {
    const ends = yield* timerWheel
    const answers: Array<Answer<string, never>> = []
    let withdrawn = 0
    const someone = Effect.forkChild(
      asked(
        ends.ask<string, never>(1_000, (answer) => {
          answers.push(answer)
          return () => Exit.succeed(`withdrawn ${++withdrawn}`)
        }),
      ),
    )
    const [first, second, third] = [yield* someone, yield* someone, yield* someone]
    yield* Effect.yieldNow
    answers[0]!(Exit.succeed("in time"))
    yield* Fiber.interrupt(third)
    assert.strictEqual(withdrawn, 1)
    yield* TestClock.adjust(2_000)
    answers[1]!(Exit.succeed("too late"))
    assert.strictEqual(yield* Fiber.join(first), "in time")
    assert.strictEqual(yield* Fiber.join(second), "withdrawn 2")
    assert.strictEqual(withdrawn, 2)
  }).pipe(Effect.scoped),
)

it.effect(
  "TimerWheel.limit is the work's own end in time, and afterwards does not wait for what cannot be stopped",
  () =>
    Effect.gen(function* () {
      const ends = yield* timerWheel
      const limited = <A, E>(work: Effect.Effect<A, E>) =>
        Effect.result(ends.limit<A, E | string>(1_000, Effect.fail("late"), work))
      assert.deepStrictEqual(yield* limited(Effect.succeed("done")), Result.succeed("done"))
      assert.deepStrictEqual(yield* limited(Effect.fail("broken")), Result.fail("broken"))
      const stuck = yield* Effect.forkChild(limited(Effect.uninterruptible(Effect.never)))
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual(yield* Fiber.join(stuck), Result.fail("late"))
    }).pipe(Effect.scoped),
)

it.effect("TimerWheel.limit stops the work when nobody waits for it any more", () =>
  Effect.gen(function* () {
    const ends = yield* timerWheel
    let stopped = false
    const work = Effect.onInterrupt(Effect.never, () => Effect.sync(() => (stopped = true)))
    const fiber = yield* Effect.forkChild(ends.limit(1_000, Effect.void, work))
    yield* Effect.yieldNow
    yield* Fiber.interrupt(fiber)
    yield* Effect.yieldNow
    assert.isTrue(stopped)
  }).pipe(Effect.scoped),
)
