import { deliveryNews, LOOK_MILLIS } from "@data-cabinet/console/integration/DeliveryLive"
import type { Delivery } from "@data-cabinet/core/delivery/Attempt"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { assert, it } from "vitest"

const delivery = (id: number, number: number) =>
  ({ id, lastAttempt: { number, at: "2026-11-28T10:00:00Z" } }) as Delivery

it("an attempt, and a delivery that was not there, are news; one that goes, and a database that is away, are not", () =>
  Effect.runPromise(
    Effect.gen(function* () {
      let now: ReadonlyArray<Delivery> | null = [delivery(1, 1), delivery(2, 1)]
      const look = () => Effect.suspend(() => (now === null ? Effect.fail(away) : Effect.succeed(now)))
      const next = yield* deliveryNews(look)
      const after = Effect.fnUntraced(function* (...looks: ReadonlyArray<typeof now>) {
        const waiting = yield* Effect.forkChild(next)
        for (const one of looks) {
          now = one
          yield* TestClock.adjust(LOOK_MILLIS)
        }
        const isOver = waiting.pollUnsafe() !== undefined
        yield* Fiber.interrupt(waiting)
        return isOver
      })
      assert.isFalse(yield* after([delivery(1, 1), delivery(2, 1)], [delivery(2, 1)], null))
      assert.isTrue(yield* after(null, [delivery(2, 2)]))
      assert.isFalse(yield* after([delivery(2, 2)]))
      assert.isTrue(yield* after([delivery(3, 0), delivery(2, 2)]))
    }).pipe(Effect.provide(TestClock.layer())),
  ))

const away = new StoreUnavailable({ message: "away", retryAfter: 1, outcomeUnknown: false })
