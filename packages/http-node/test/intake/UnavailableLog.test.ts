import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { unavailableLog } from "@data-cabinet/http-node/intake/UnavailableLog"
import { assert, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"

it.effect("unavailableLog logs the first 503 of each cause and minute", () => {
  const lines: Array<unknown> = []
  const error = (message: string) => new StoreUnavailable({ message, retryAfter: 2, outcomeUnknown: false })
  const tell = unavailableLog()
  return Effect.gen(function* () {
    const context = yield* Effect.context()
    for (let n = 0; n < 3; n++) tell(error("It is away."), context)
    tell(error("It is late."), context)
    yield* TestClock.adjust("1 minute")
    tell(error("It is away."), context)
    assert.deepStrictEqual(lines.flat(), [
      "intake responds with 503: It is away.",
      "intake responds with 503: It is late.",
      "intake responds with 503: It is away.",
    ])
  }).pipe(Effect.provide(Logger.layer([Logger.make(({ message }) => void lines.push(message))])))
})
