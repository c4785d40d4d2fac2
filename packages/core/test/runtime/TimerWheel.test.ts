import { assert, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { timerWheel, type TimerWheel } from "../../src/runtime/TimerWheel.ts"

/** A wait of so many milliseconds whose deadline may be moved, and how often it expired. */
const waitOf = (wheel: TimerWheel, millis: number) => {
  const wait = {
    deadline: wheel.now() + millis,
    expired: 0,
    expire: () => void wait.expired++,
    stop: () => {},
  }
  wait.stop = wheel.watch(wait)
  return wait
}

/** A wheel, and how often it has slept. */
const countedWheel = Effect.gen(function* () {
  let sleeps = 0
  const clock = yield* Clock.Clock
  const counting = Object.create(clock) as { -readonly [K in keyof Clock.Clock]: Clock.Clock[K] }
  counting.sleep = (duration) => {
    sleeps++
    return clock.sleep(duration)
  }
  const wheel = yield* Effect.provideService(timerWheel, Clock.Clock, counting)
  return { wheel, sleeps: () => sleeps }
})

it.effect("TimerWheel.watch ends a wait after its deadline, not before, and once", () =>
  Effect.gen(function* () {
    const wait = waitOf(yield* timerWheel, 1_000)
    yield* TestClock.adjust(999)
    assert.strictEqual(wait.expired, 0)
    yield* TestClock.adjust(501)
    assert.strictEqual(wait.expired, 1)
    yield* TestClock.adjust(10_000)
    assert.strictEqual(wait.expired, 1)
  }).pipe(Effect.scoped),
)

it.effect("TimerWheel.watch drops a wait that has ended, and uses a wait's current deadline", () =>
  Effect.gen(function* () {
    const wheel = yield* timerWheel
    const [over, moved] = [waitOf(wheel, 1_000), waitOf(wheel, 1_000)]
    yield* TestClock.adjust(500)
    over.stop()
    over.stop()
    moved.deadline = wheel.now() + 1_000
    yield* TestClock.adjust(999)
    assert.deepStrictEqual([over.expired, moved.expired], [0, 0])
    yield* TestClock.adjust(60_000)
    assert.deepStrictEqual([over.expired, moved.expired], [0, 1])
  }).pipe(Effect.scoped),
)

it.effect("TimerWheel.watch uses monotonic time, unaffected by the wall clock", () =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const shifted = Object.create(clock) as { -readonly [K in keyof Clock.Clock]: Clock.Clock[K] }
    shifted.currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() - 3_600_000
    const wait = waitOf(yield* Effect.provideService(timerWheel, Clock.Clock, shifted), 1_000)
    yield* TestClock.adjust(1_500)
    assert.strictEqual(wait.expired, 1)
  }).pipe(Effect.scoped),
)

it.effect("TimerWheel.watch wakes no more often for thousands of waits than for one, and never for none", () =>
  Effect.gen(function* () {
    const { wheel, sleeps } = yield* countedWheel
    yield* TestClock.adjust("1 hour")
    assert.strictEqual(sleeps(), 0)
    // Of every three waits, one ends in time, one is extended, and one is over before its deadline.
    const began = wheel.now()
    const waits = Array.from({ length: 3_000 }, (_, n) => waitOf(wheel, 1 + ((n * 7919) % 5_000)))
    const seen = new Map<unknown, number>()
    for (const wait of waits) wait.expire = () => void seen.set(wait, wheel.now())
    for (const [n, wait] of waits.entries()) {
      if (n % 3 === 1) wait.deadline += 2_000
      if (n % 3 === 2) wait.stop()
    }
    yield* TestClock.adjust("10 seconds")
    for (const [n, wait] of waits.entries()) {
      const at = seen.get(wait)
      if (n % 3 === 2) assert.isUndefined(at)
      else
        assert.isTrue(at! >= wait.deadline && at! <= wait.deadline + 250, `${at! - began} for ${wait.deadline - began}`)
    }
    // At most 7.25 seconds, four times a second.
    assert.isAtMost(sleeps(), 30)
  }).pipe(Effect.scoped),
)

it.effect(
  "TimerWheel.limit returns the work's own result in time, and does not wait for uninterruptible work afterwards",
  () =>
    Effect.gen(function* () {
      const wheel = yield* timerWheel
      const limited = <A, E>(work: Effect.Effect<A, E>) =>
        Effect.result(wheel.limit<A, E | string>(1_000, Effect.fail("late"), work))
      assert.deepStrictEqual(yield* limited(Effect.succeed("done")), Result.succeed("done"))
      assert.deepStrictEqual(yield* limited(Effect.fail("broken")), Result.fail("broken"))
      const stuck = yield* Effect.forkChild(limited(Effect.uninterruptible(Effect.never)))
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual(yield* Fiber.join(stuck), Result.fail("late"))
    }).pipe(Effect.scoped),
)

it.effect("TimerWheel.limit gives work its full time, then stops it", () =>
  Effect.gen(function* () {
    const wheel = yield* timerWheel
    let stopped = 0
    const lasting = (millis: number) =>
      Effect.as(Effect.sleep(millis), "done").pipe(Effect.onInterrupt(() => Effect.sync(() => void stopped++)))
    const limited = (millis: number) => Effect.forkChild(wheel.limit(1_000, Effect.succeed("late"), lasting(millis)))
    const fibers = [yield* limited(900), yield* limited(5_000)]
    yield* TestClock.adjust(1_250)
    assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), ["done", "late"])
    yield* Effect.yieldNow
    assert.strictEqual(stopped, 1)
  }).pipe(Effect.scoped),
)

it.effect("TimerWheel.limit keeps no timer for completed or abandoned work", () =>
  Effect.gen(function* () {
    const { wheel, sleeps } = yield* countedWheel
    const hour = 3_600_000
    yield* wheel.limit(hour, Effect.void, Effect.void)
    const left = yield* Effect.forkChild(wheel.limit(hour, Effect.void, Effect.never), { startImmediately: true })
    yield* Fiber.interrupt(left)
    yield* TestClock.adjust(hour)
    assert.isAtMost(sleeps(), 2)
  }).pipe(Effect.scoped),
)

it.effect("TimerWheel.limit stops abandoned work", () =>
  Effect.gen(function* () {
    const wheel = yield* timerWheel
    let stopped = false
    const work = Effect.onInterrupt(Effect.never, () => Effect.sync(() => (stopped = true)))
    const fiber = yield* Effect.forkChild(wheel.limit(1_000, Effect.void, work))
    yield* Effect.yieldNow
    yield* Fiber.interrupt(fiber)
    yield* Effect.yieldNow
    assert.isTrue(stopped)
  }).pipe(Effect.scoped),
)
