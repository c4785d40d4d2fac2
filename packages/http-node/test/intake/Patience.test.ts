import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { running } from "@data-cabinet/core/runtime/Course"
import { EventLog } from "@data-cabinet/core/event/EventLog"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { RateLimiter } from "@data-cabinet/core/limit/RateLimiter"
import { Sources } from "@data-cabinet/core/source/Sources"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { HttpSettings } from "../../src/server/HttpSettings.ts"
import { BodyLimits } from "../../src/intake/BodyLimits.ts"
import { intakeRoutes } from "../../src/intake/IntakeRoutes.ts"

const MINUTES = 600_000

/** Intake over a store that takes four seconds for each step but the last, which `append` is. */
const intake = (append: Effect.Effect<never, StoreUnavailable>) => {
  const allowed = { allowed: true, limit: 60, remaining: 1, retryAfter: 1, whose: "source" } as const
  const source = Option.some({ id: 7, version: 1, encoding: null, thanksUrl: null })
  const ports = Layer.mergeAll(
    Layer.succeed(Sources, {
      remembered: () => undefined,
      bySecret: () => Effect.delay(Effect.succeed(source), "4 seconds"),
    } as unknown as Sources["Service"]),
    Layer.succeed(RateLimiter, { key: () => Effect.succeed(null), intake: () => Effect.succeed(allowed) }),
    Layer.succeed(
      EventLog,
      EventLog.taking(() => running(append)),
    ),
    Layer.succeed(HttpSettings, { baseUrl: "http://cabinet.test", docsUrl: null, trustedProxies: () => false }),
    Layer.succeed(BodyLimits, { maxBytes: 1000, idle: MINUTES, total: MINUTES, buffered: 1000, store: 9_000 }),
  )
  return Effect.provide(intakeRoutes, Layer.merge(Intake.layer.pipe(Layer.provide(ports)), ports))
}

it.effect(
  "a sender waits for the store for one allowance, which the time in which the body arrives does not use up",
  () =>
    Effect.gen(function* () {
      let givenUp = false
      const append = Effect.onInterrupt(Effect.never, () => Effect.sync(() => (givenUp = true)))
      const [route] = yield* intake(append)
      const body = Promise.withResolvers<void>()
      const request = new Request("http://cabinet.test/webhook/s", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: new ReadableStream({
          pull: async (into) => {
            await body.promise
            into.enqueue(new TextEncoder().encode("{}"))
            into.close()
          },
        }),
        duplex: "half",
      } as RequestInit)
      const answer = yield* Effect.forkChild(
        route!.handle(HttpServerRequest.fromWeb(request), { params: ["s"], query: "" }),
        { startImmediately: true },
      )
      yield* TestClock.adjust("4 seconds")
      yield* TestClock.adjust("60 seconds")
      body.resolve()
      yield* Effect.promise(() => new Promise((done) => setTimeout(done, 0)))
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual([answer.pollUnsafe(), givenUp], [undefined, false])
      yield* TestClock.adjust("2 seconds")
      const { status, body: told } = yield* Fiber.join(answer)
      assert.deepStrictEqual([status, givenUp], [503, true])
      assert.match(JSON.stringify(told), /not known whether this was saved/)
    }).pipe(Effect.scoped),
)

it.effect("a sender that goes away after its last byte has sent it all the same", () =>
  Effect.gen(function* () {
    let done = false
    const append = Effect.andThen(
      Effect.sync(() => (done = true)),
      Effect.fail(new StoreUnavailable({ message: "gone", retryAfter: 1, outcomeUnknown: true })),
    )
    const [route] = yield* intake(append)
    const request = new Request("http://cabinet.test/webhook/s", { method: "POST" })
    const answer = yield* Effect.forkChild(
      route!.handle(HttpServerRequest.fromWeb(request), { params: ["s"], query: "" }),
      { startImmediately: true },
    )
    const gone = yield* Effect.forkChild(Fiber.interrupt(answer), { startImmediately: true })
    yield* TestClock.adjust("4 seconds")
    yield* Fiber.join(gone)
    assert.isTrue(done)
  }).pipe(Effect.scoped),
)
