import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { runResult } from "@data-cabinet/core/runtime/FromResult"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { ReadLimiter, type SlotRequest } from "../../src/row/ReadLimiter.ts"

const late = Result.fail("late" as const)

/** Work as an Effect, in a slot. */
const acquire = <A, E>(turns: ReadLimiter, of: SlotRequest, work: Effect.Effect<A, E>): Effect.Effect<A, E | "late"> =>
  fromCall<A, E | "late">((call) =>
    turns.run<Result.Result<A, E | "late">>(of, call, late, () => runResult(work, call.context, call)),
  )

const A = { object: "a", runsNoUserCode: true }

const open = (slots: number, share: number, isolated = { slots, share }) =>
  Effect.map(timerWheel, (wheel) => new ReadLimiter({ slots, share, isolated, queueTimeoutMillis: 8_000, wheel }))

/** Reads that run until they are ended on command, by name in the order in which they began. */
const reads = (turns: ReadLimiter) => {
  const began: Array<string> = []
  const ends = new Map<string, Deferred.Deferred<void>>()
  const read = (object: string, name: string, runsNoUserCode = true) =>
    Effect.gen(function* () {
      const end = yield* Deferred.make<void>()
      ends.set(name, end)
      const work = Effect.andThen(
        Effect.sync(() => began.push(name)),
        Deferred.await(end),
      )
      const fiber = yield* Effect.forkChild(acquire(turns, { object, runsNoUserCode }, work))
      yield* Effect.yieldNow
      return fiber
    })
  const end = (name: string) => Effect.andThen(Deferred.succeed(ends.get(name)!, undefined), Effect.yieldNow)
  return { began, read, end }
}

it.effect("ReadLimiter gives one object its share, others the rest, and slots in the order of requests", () =>
  Effect.gen(function* () {
    const { began, read, end } = reads(yield* open(3, 2))
    for (const name of ["a1", "a2", "a3", "a4"]) yield* read("a", name)
    assert.deepStrictEqual(began, ["a1", "a2"])
    yield* read("b", "b1")
    yield* read("c", "c1")
    assert.deepStrictEqual(began, ["a1", "a2", "b1"])
    // c1 requested a slot before a3 was allowed one.
    yield* end("a1")
    assert.deepStrictEqual(began.slice(3), ["c1"])
    yield* end("b1")
    assert.deepStrictEqual(began.slice(4), ["a3"])
    yield* end("a2")
    assert.deepStrictEqual(began.slice(5), ["a4"])
  }).pipe(Effect.scoped),
)

it.effect("ReadLimiter reserves slots for tables and for other views, however many callers request a view", () =>
  Effect.gen(function* () {
    const { began, read, end } = reads(yield* open(4, 3, { slots: 3, share: 2 }))
    for (const name of ["v1", "v2", "v3"]) yield* read("v", name, false)
    for (const name of ["w1", "w2"]) yield* read("w", name, false)
    assert.deepStrictEqual(began, ["v1", "v2", "w1"])
    yield* read("a", "a1")
    yield* read("a", "a2")
    assert.deepStrictEqual(began.slice(3), ["a1"])
    // w2 waits for a separate session, a2 for any.
    yield* end("a1")
    assert.deepStrictEqual(began.slice(4), ["a2"])
    yield* end("w1")
    assert.deepStrictEqual(began.slice(5), ["w2"])
  }).pipe(Effect.scoped),
)

it.effect("ReadLimiter drops callers that have waited too long or disconnect, and loses no slot", () =>
  Effect.gen(function* () {
    const { began, read, end } = reads(yield* open(1, 1))
    yield* read("a", "a1")
    const patient = yield* read("a", "a2")
    yield* TestClock.adjust(7_000)
    const hangsUp = yield* read("b", "b1")
    const last = yield* read("b", "b2")
    yield* Fiber.interrupt(hangsUp)
    yield* TestClock.adjust(2_000)
    assert.deepStrictEqual(yield* Fiber.await(patient), Exit.fail("late" as const))
    assert.deepStrictEqual(began, ["a1"])
    yield* end("a1")
    yield* end("b2")
    assert.deepStrictEqual(yield* Fiber.await(last), Exit.void)
    const again = yield* read("a", "a3")
    yield* end("a3")
    assert.deepStrictEqual(yield* Fiber.await(again), Exit.void)
    assert.deepStrictEqual(began, ["a1", "b2", "a3"])
  }).pipe(Effect.scoped),
)

it.effect("ReadLimiter recovers the slot of work that fails or is interrupted", () =>
  Effect.gen(function* () {
    const turns = yield* open(1, 1)
    const { read } = reads(turns)
    assert.deepStrictEqual(yield* Effect.exit(acquire(turns, A, Effect.fail("broken"))), Exit.fail("broken"))
    yield* Fiber.interrupt(yield* read("a", "a1"))
    assert.strictEqual(yield* acquire(turns, A, Effect.succeed("read")), "read")
  }).pipe(Effect.scoped),
)

it.effect("ReadLimiter serves thousands of queued callers in turn, even if each completes synchronously", () =>
  Effect.gen(function* () {
    const turns = yield* open(1, 1)
    const { read, end } = reads(turns)
    yield* read("a", "a1")
    let done = 0
    const count = Effect.sync(() => void done++)
    const line = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: 20_000 }), () => acquire(turns, A, count), {
        concurrency: "unbounded",
        discard: true,
      }),
    )
    yield* Effect.yieldNow
    assert.strictEqual(done, 0)
    yield* end("a1")
    yield* Fiber.join(line)
    assert.strictEqual(done, 20_000)
  }).pipe(Effect.scoped),
)
