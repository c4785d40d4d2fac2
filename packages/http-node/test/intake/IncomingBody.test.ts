import { PassThrough } from "node:stream"
import { fromResult } from "@data-cabinet/core/runtime/FromResult"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { IncomingBody } from "../../src/intake/IncomingBody.ts"

const LIMITS = { maxBytes: 1_000_000, idle: 1_000, total: 5_000, buffered: 2_000_000, store: 1_000 }

const of = (source: PassThrough, budget: { held: number }) =>
  Effect.map(timerWheel, (wheel) => new IncomingBody(source, LIMITS, budget, wheel, true))

const incoming = Effect.gen(function* () {
  const source = new PassThrough()
  const budget = { held: 0 }
  return { source, budget, body: yield* of(source, budget) }
})

const settled = Effect.promise(() => new Promise<void>((done) => setImmediate(() => setImmediate(done))))

const wanted = (body: IncomingBody) => Effect.forkChild(Effect.exit(fromResult(body.whole)), { startImmediately: true })

const failure = (exit: Exit.Exit<Uint8Array, unknown>) => (Exit.isFailure(exit) ? String(exit.cause) : "none")

/** One byte, then nothing for a while. */
const dripped = (source: PassThrough, millis: number) =>
  Effect.gen(function* () {
    source.write("x")
    yield* settled
    yield* TestClock.adjust(millis)
  })

it.effect("each byte restarts a sender's idle time", () =>
  Effect.gen(function* () {
    const { source, body } = yield* incoming
    const exit = yield* wanted(body)
    for (let n = 0; n < 4; n++) yield* dripped(source, 900)
    source.end()
    assert.deepStrictEqual(yield* Fiber.join(exit), Exit.succeed(Buffer.from("xxxx") as Uint8Array))
  }).pipe(Effect.scoped),
)

it.effect("a sender is abandoned as soon as the idle time has passed, and not before", () =>
  Effect.gen(function* () {
    const { source, body } = yield* incoming
    const exit = yield* wanted(body)
    yield* dripped(source, 999)
    assert.isUndefined(exit.pollUnsafe())
    yield* TestClock.adjust(501)
    assert.include(failure(yield* Fiber.join(exit)), "did not arrive in time")
  }).pipe(Effect.scoped),
)

it.effect("a sender is abandoned when the total time has passed, even if bytes keep arriving, and not before", () =>
  Effect.gen(function* () {
    const { source, body } = yield* incoming
    const exit = yield* wanted(body)
    for (let n = 0; n < 5; n++) yield* dripped(source, 900)
    yield* dripped(source, 499)
    assert.isUndefined(exit.pollUnsafe())
    yield* dripped(source, 501)
    assert.include(failure(yield* Fiber.join(exit)), "did not arrive in time")
  }).pipe(Effect.scoped),
)

it.effect("IncomingBody reads ahead up to its limit, and continues when the body is requested", () =>
  Effect.gen(function* () {
    const { source, budget, body } = yield* incoming
    for (let n = 0; n < 20; n++) source.write(Buffer.alloc(16_384, n))
    yield* settled
    assert.strictEqual(budget.held, 65_536)
    source.end()
    const bytes = yield* fromResult(body.whole)
    assert.strictEqual(bytes.byteLength, 20 * 16_384)
    assert.strictEqual(budget.held, 0)
  }).pipe(Effect.scoped),
)

it.effect("IncomingBody discards a body that is not requested", () =>
  Effect.gen(function* () {
    const { source, budget, body } = yield* incoming
    source.write(Buffer.alloc(100))
    yield* settled
    assert.strictEqual(budget.held, 100)
    body.drop()
    assert.strictEqual(budget.held, 0)
    source.write(Buffer.alloc(100))
    yield* settled
    assert.strictEqual(budget.held, 0)
  }).pipe(Effect.scoped),
)

it.effect("IncomingBody does not read ahead when the sender expects 100-continue", () =>
  Effect.gen(function* () {
    const source = new PassThrough()
    const budget = { held: 0 }
    const body = new IncomingBody(source, LIMITS, budget, yield* timerWheel, false)
    source.end("{}")
    yield* settled
    assert.deepStrictEqual([budget.held, source.readableFlowing], [0, null])
    assert.strictEqual(Buffer.from(yield* fromResult(body.whole)).toString(), "{}")
  }).pipe(Effect.scoped),
)

it.effect(
  "a sender that disconnects is distinguished from a slow one, whether or not its body was requested by then",
  () =>
    Effect.gen(function* () {
      for (const isWanted of [true, false]) {
        const { source, budget, body } = yield* incoming
        source.write("{")
        yield* settled
        const waiting = isWanted ? yield* wanted(body) : undefined
        source.destroy()
        yield* settled
        const exit = waiting === undefined ? yield* Effect.exit(fromResult(body.whole)) : yield* Fiber.join(waiting)
        assert.include(failure(exit), "The body was interrupted")
        assert.strictEqual(budget.held, 0)
      }
    }).pipe(Effect.scoped),
)
