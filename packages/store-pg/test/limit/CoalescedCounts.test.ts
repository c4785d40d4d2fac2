/** The statements of coalesced counts, and the result for each caller. */
import { type CountBatch, distribute, coalescedCounts } from "@data-cabinet/store-pg/limit/CoalescedCounts"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { unavailable } from "@data-cabinet/store-pg/connection/StoreFailure"
import { fromResult } from "@data-cabinet/core/runtime/FromResult"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Latch, Scope } from "effect"
import { TestClock } from "effect/testing"

/** A database that counts; `gate` holds back its responses. */
const counting = (gate: Latch.Latch) => {
  const counts = new Map<string, number>()
  const calls: Array<ReadonlyMap<string, number>> = []
  const add = (asked: ReadonlyMap<string, number>) =>
    Effect.suspend(() => {
      calls.push(asked)
      for (const [subject, n] of asked) if (subject !== "nobody") counts.set(subject, (counts.get(subject) ?? 0) + n)
      const rows = Array.from(asked, ([subject, n]) => [subject, counts.get(subject), n] as const)
      const answers = rows.flatMap(([subject, count, n]) =>
        count === undefined ? [] : [[subject, distribute({ count, left_ms: 1_000 }, n)] as const],
      )
      return Effect.as(gate.await, new Map(answers))
    })
  return { calls, add }
}

const folded = <A>(count: CountBatch<A>) =>
  Effect.map(
    coalescedCounts(count),
    (ask) =>
      (subject: string, deadline = Number.POSITIVE_INFINITY) =>
        fromResult(() => ask(subject, deadline)),
  )

/** Lets everything run that needs no time. */
const settled = Effect.promise(() => new Promise<void>((done) => setImmediate(done)))

const messageOf = ({ message }: StoreUnavailable) => message

it.effect("coalescedCounts returns to each of many callers its own number, with two statements in total", () =>
  Effect.gen(function* () {
    const gate = Latch.makeUnsafe(false)
    const { calls, add } = counting(gate)
    const count = yield* folded(add)
    const first = yield* Effect.forkChild(count("a"))
    while (calls.length === 0) yield* settled
    const rest = yield* Effect.forkChild(
      Effect.all(
        Array.from({ length: 50 }, (_, n) => count(n % 5 === 0 ? "b" : "a")),
        { concurrency: "unbounded" },
      ),
    )
    yield* settled
    yield* gate.open
    assert.strictEqual((yield* Fiber.join(first))?.count, 1)
    const answers = yield* Fiber.join(rest)
    assert.deepStrictEqual(
      answers.flatMap((row, n) => (n % 5 === 0 ? [] : [row?.count])),
      Array.from({ length: 40 }, (_, n) => n + 2),
    )
    assert.deepStrictEqual(
      answers.flatMap((row, n) => (n % 5 === 0 ? [row?.count] : [])),
      Array.from({ length: 10 }, (_, n) => n + 1),
    )
    assert.deepStrictEqual(calls, [
      new Map([["a", 1]]),
      new Map([
        ["b", 10],
        ["a", 40],
      ]),
    ])
  }).pipe(Effect.scoped),
)

it.effect("coalescedCounts returns null for an unknown subject", () =>
  Effect.gen(function* () {
    const count = yield* folded(counting(Latch.makeUnsafe(true)).add)
    assert.isNull(yield* count("nobody"))
  }).pipe(Effect.scoped),
)

it.effect(
  "coalescedCounts fails all of a statement when the database is unavailable, and counts again afterwards",
  () =>
    Effect.gen(function* () {
      let away = true
      const { add } = counting(Latch.makeUnsafe(true))
      const count = yield* folded((asked) =>
        Effect.suspend(() => (away ? Effect.fail(unavailable("away")) : add(asked))),
      )
      const told = yield* Effect.all([Effect.flip(count("a")), Effect.flip(count("b"))], { concurrency: "unbounded" })
      assert.deepStrictEqual(told.map(messageOf), ["away", "away"])
      away = false
      assert.strictEqual((yield* count("a"))?.count, 1)
    }).pipe(Effect.scoped),
)

it.effect("coalescedCounts leaves no caller waiting when the service stops", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const { add, calls } = counting(Latch.makeUnsafe(false))
    const count = yield* Effect.provideService(folded(add), Scope.Scope, scope)
    const asked = yield* Effect.forkChild(Effect.flip(count("a")))
    while (calls.length === 0) yield* settled
    const late = yield* Effect.forkChild(Effect.flip(count("a")))
    yield* settled
    yield* Scope.close(scope, Exit.void)
    const told = [yield* Fiber.join(asked), yield* Fiber.join(late)]
    assert.deepStrictEqual(told.map(messageOf), ["The service is stopping.", "The service is stopping."])
  }),
)

it.effect("coalescedCounts fails only callers past their deadline, whether or not their statement runs", () =>
  Effect.gen(function* () {
    const gate = Latch.makeUnsafe(false)
    const { add, calls } = counting(gate)
    const count = yield* folded(add)
    const sent = [yield* Effect.forkChild(Effect.flip(count("a", 1_000))), yield* Effect.forkChild(count("a"))] as const
    while (calls.length === 0) yield* settled
    const waiting = [
      yield* Effect.forkChild(Effect.flip(count("a", 2_000))),
      yield* Effect.forkChild(count("a")),
    ] as const
    yield* settled
    yield* TestClock.adjust(999)
    assert.deepStrictEqual([sent[0].pollUnsafe(), waiting[0].pollUnsafe()], [undefined, undefined])
    yield* TestClock.adjust(251)
    assert.match((yield* Fiber.join(sent[0])).message, /did not respond in time/)
    assert.isUndefined(waiting[0].pollUnsafe())
    yield* TestClock.adjust(1_000)
    assert.match((yield* Fiber.join(waiting[0])).message, /did not respond in time/)
    yield* gate.open
    // An abandoned caller was counted nevertheless, so the limit is never exceeded for it.
    assert.deepStrictEqual([(yield* Fiber.join(sent[1]))?.count, (yield* Fiber.join(waiting[1]))?.count], [2, 4])
  }).pipe(Effect.scoped),
)
