import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { expect, it } from "vitest"
import { ApplyTurn, inTurn, TURN_SECONDS } from "@data-cabinet/core/apply/ApplyTurn"

const lost = Effect.die("lost")

it("a renewal that is under way when the work ends is over before the turn is ended", async () => {
  const said: Array<string> = []
  const program = Effect.gen(function* () {
    const [begun, slow, done] = [
      yield* Deferred.make<void>(),
      yield* Deferred.make<void>(),
      yield* Deferred.make<void>(),
    ]
    let takes = 0
    const turn = ApplyTurn.of({
      take: () =>
        Effect.gen(function* () {
          if (takes++ === 0) return true
          yield* Deferred.succeed(begun, undefined)
          yield* Deferred.await(slow)
          said.push("renewed")
          return true
        }),
      end: () => Effect.sync(() => void said.push("ended")),
    })
    const running = yield* Effect.forkChild(
      Effect.provideService(
        inTurn(() => Deferred.await(done), { onWait: Effect.void, lost }),
        ApplyTurn,
        turn,
      ),
    )
    yield* Effect.yieldNow
    yield* TestClock.adjust(`${TURN_SECONDS / 3} seconds`)
    yield* Deferred.await(begun)
    yield* Deferred.succeed(done, undefined)
    yield* Effect.yieldNow
    yield* Deferred.succeed(slow, undefined)
    yield* Fiber.join(running)
  })
  await Effect.runPromise(Effect.provide(program, TestClock.layer()))
  expect(said).toEqual(["renewed", "ended"])
})

it("whoever waits for the turn of another can give up", async () => {
  const said: Array<string> = []
  const program = Effect.gen(function* () {
    const waits = yield* Deferred.make<void>()
    const turn = ApplyTurn.of({
      take: () => Effect.succeed(false),
      end: () => Effect.sync(() => void said.push("ended")),
    })
    const running = yield* Effect.forkChild(
      Effect.provideService(
        inTurn(() => Effect.void, { onWait: Effect.asVoid(Deferred.succeed(waits, undefined)), lost }),
        ApplyTurn,
        turn,
      ),
    )
    yield* Deferred.await(waits)
    yield* Fiber.interrupt(running)
  })
  await Effect.runPromise(Effect.provide(program, TestClock.layer()))
  expect(said).toEqual(["ended"])
})
