import { StoreUnavailable, storeTimedOut } from "@data-cabinet/core/error/StoreUnavailable"
import { EventLog } from "@data-cabinet/core/event/EventLog"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { RateLimiter } from "@data-cabinet/core/limit/RateLimiter"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Sources } from "@data-cabinet/core/source/Sources"
import { LimitedRequests } from "@data-cabinet/core/limit/LimitedRequests"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { BodyLimits } from "../../src/intake/BodyLimits.ts"
import { intakeRoutes } from "../../src/intake/IntakeRoutes.ts"
import { fetchAdapter } from "../../src/server/FetchAdapter.ts"
import type { Handle } from "../../src/server/Request.ts"
import { stoppedResponse } from "../../src/tenancy/UnknownHost.ts"
import { HttpSettings } from "../../src/server/HttpSettings.ts"
import { ProofProviders } from "@data-cabinet/core/proof/ProofProviders"
import { SnsService } from "@data-cabinet/core/verification/VerifySns"
import { RefusedSignatures } from "@data-cabinet/core/verification/VerifySender"

const MINUTES = 600_000

const settled = Effect.promise(() => new Promise<void>((done) => setTimeout(done, 0)))

/**
 * Intake, as reached by fetch, over a store that takes this many seconds to look a source up and appends in this way.
 */
const intake = (append: EventLog["Service"]["append"], seconds = 4) => {
  const allowed = { allowed: true, limit: 60, remaining: 1, retryAfter: 1, subject: "source" } as const
  const source = Option.some({ id: 7, version: 1, encoding: null, thanksUrl: null, kept: null, verification: null })
  const ports = Layer.mergeAll(
    Layer.succeed(Sources, {
      cached: () => undefined,
      bySecret: () => Effect.delay(Effect.succeed(source), `${seconds} seconds`),
    } as unknown as Sources["Service"]),
    Layer.succeed(RateLimiter, { key: async () => Result.succeed(null), intake: async () => Result.succeed(allowed) }),
    Layer.succeed(EventLog, { append }),
    Layer.succeed(RefusedSignatures, { count: () => {} }),
    Layer.succeed(SnsService, { certificate: () => Effect.succeed(null), confirm: () => Effect.void }),
    Layer.succeed(ProofProviders, { check: () => Effect.succeed("unchecked" as const) }),
    Layer.succeed(LimitedRequests, { count: () => {} }),
    Layer.succeed(HttpSettings, { baseUrl: "http://cabinet.test", docsUrl: null, trustedProxies: () => false }),
    Layer.succeed(BodyLimits, { maxBytes: 1000, idle: MINUTES, total: MINUTES, buffered: 1000, store: 9_000 }),
  )
  return Effect.gen(function* () {
    const [route] = yield* Effect.provide(intakeRoutes, Layer.merge(Intake.layer.pipe(Layer.provide(ports)), ports))
    const handle: Handle = (request) => route!.handle(request, { params: ["s"], query: "" })
    return fetchAdapter({ handle, stopped: stoppedResponse }, yield* Effect.context())
  })
}

const URL_OF_IT = "http://cabinet.test/webhook/s"

/** An outside promise as a value that can be inspected. */
const watched = <A>(promise: Promise<A>) => {
  const seen: { value: A | undefined } = { value: undefined }
  void promise.then((value) => (seen.value = value))
  return seen
}

it.effect("a sender waits for the store at most one limit in total, which does not include receiving the body", () =>
  Effect.gen(function* () {
    const wheel = yield* timerWheel
    let givenUp = false
    // As the port's contract requires: a result by the deadline.
    const fetching = yield* intake(
      (_, deadline) =>
        new Promise((resolve) => {
          wheel.watch({
            deadline: deadline!,
            expire: () => {
              givenUp = true
              resolve(Result.fail(storeTimedOut(true)))
            },
          })
        }),
    )
    const body = Promise.withResolvers<void>()
    const answer = watched(
      fetching(
        new Request(URL_OF_IT, {
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
        } as RequestInit),
      ),
    )
    yield* settled
    yield* TestClock.adjust("4 seconds")
    yield* settled
    yield* TestClock.adjust("60 seconds")
    body.resolve()
    yield* settled
    yield* settled
    yield* TestClock.adjust("4 seconds")
    yield* settled
    assert.deepStrictEqual([answer.value, givenUp], [undefined, false])
    yield* TestClock.adjust("2 seconds")
    yield* settled
    assert.deepStrictEqual([answer.value?.status, givenUp], [503, true])
    assert.match(yield* Effect.promise(() => answer.value!.text()), /unknown whether this was saved/)
  }).pipe(Effect.scoped),
)

it.effect("a sender whose source cannot be looked up in time learns that nothing was saved", () =>
  Effect.gen(function* () {
    const fetching = yield* intake(() => assert.fail("nothing was looked up"), 60)
    const answer = watched(fetching(new Request(URL_OF_IT, { method: "POST" })))
    yield* settled
    yield* TestClock.adjust("8 seconds")
    yield* settled
    assert.deepStrictEqual(answer, { value: undefined })
    yield* TestClock.adjust("2 seconds")
    yield* settled
    assert.strictEqual(answer.value?.status, 503)
    assert.match(yield* Effect.promise(() => answer.value!.text()), /Nothing can be saved right now/)
  }).pipe(Effect.scoped),
)

it.effect("a submission is accepted when its sender disconnects after the last byte", () =>
  Effect.gen(function* () {
    let done = false
    const fetching = yield* intake(async () => {
      done = true
      return Result.fail(new StoreUnavailable({ message: "gone", retryAfter: 1, outcomeUnknown: true }))
    })
    const gone = new AbortController()
    void fetching(new Request(URL_OF_IT, { method: "POST", signal: gone.signal }))
    yield* settled
    gone.abort()
    yield* settled
    yield* TestClock.adjust("4 seconds")
    yield* settled
    assert.isTrue(done)
  }).pipe(Effect.scoped),
)
