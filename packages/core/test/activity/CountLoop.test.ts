import { ActivityStore } from "@data-cabinet/core/activity/ActivityStore"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { attemptCount } from "@data-cabinet/core/activity/CountActivity"

/** A store with this many minutes of attempts to count. */
const over = (found: { readonly minutes: number; readonly isUnavailable?: boolean }) => {
  let runs = 0
  const waiting = { ...found }
  const away = new StoreUnavailable({ message: "away", retryAfter: 1, outcomeUnknown: false })
  const store = {
    countAttempts: Effect.suspend(() => {
      runs++
      return found.isUnavailable === true ? Effect.fail(away) : Effect.succeed(waiting.minutes-- > 0)
    }),
  }
  return {
    waiting,
    runs: () => runs,
    counting: attemptCount.pipe(Layer.provide(Layer.succeed(ActivityStore, store as never))),
  }
}

it.effect("CountLoop queries a database without attempts every 15 seconds", () => {
  const { runs, counting } = over({ minutes: 0 })
  return Effect.gen(function* () {
    yield* Layer.build(counting)
    yield* TestClock.adjust("9 minutes")
    assert.isAbove(runs(), 9 * 4)
    assert.isBelow(runs(), 9 * 6)
  })
})

it.effect("CountLoop continues after a short pause while there is more to count", () => {
  const { counting, waiting } = over({ minutes: 100 })
  return Effect.gen(function* () {
    yield* Layer.build(counting)
    yield* TestClock.adjust("11 seconds")
    assert.isAtMost(waiting.minutes, 0)
  })
})

it.effect("CountLoop queries an unavailable database just as rarely, without a warning", () => {
  const { runs, counting } = over({ minutes: 0, isUnavailable: true })
  const levels: Array<string> = []
  const logger = Logger.layer([Logger.make(({ logLevel }) => void levels.push(logLevel))])
  return Effect.gen(function* () {
    yield* Layer.build(counting)
    yield* TestClock.adjust("9 minutes")
    assert.isAbove(runs(), 9 * 3)
    assert.isBelow(runs(), 9 * 6)
    assert.deepStrictEqual(
      levels.filter((level) => level !== "Debug"),
      [],
    )
  }).pipe(Effect.provide(logger))
})
