import { sharedWork } from "@data-cabinet/core/runtime/SharedWork"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"

it.effect("callers during a run share the next one, and none gets a run that began before its call", () =>
  Effect.gen(function* () {
    const share = yield* sharedWork<number, string>()
    let runs = 0
    const gates = yield* Effect.forEach([1, 2, 3], () => Deferred.make<void>())
    const work = Effect.suspend(() => {
      const run = runs++
      return Effect.as(Deferred.await(gates[run]!), run)
    })
    const ask = Effect.forkChild(share("one", work), { startImmediately: true })
    const first = yield* ask
    const others = yield* Effect.all([ask, ask, ask])
    yield* Effect.yieldNow
    assert.strictEqual(runs, 1)
    // A caller that leaves does not end the work for the others.
    yield* Fiber.interrupt(first)
    yield* Deferred.succeed(gates[0]!, undefined)
    yield* Deferred.succeed(gates[1]!, undefined)
    assert.deepStrictEqual(yield* Effect.forEach(others, Fiber.join), [1, 1, 1])
    assert.strictEqual(runs, 2)
    yield* Deferred.succeed(gates[2]!, undefined)
    assert.strictEqual(yield* share("one", work), 2)
  }).pipe(Effect.scoped),
)

it.effect("sharedWork fails for all callers of a name, and separates work of other names", () =>
  Effect.gen(function* () {
    const share = yield* sharedWork<number, string>()
    assert.strictEqual(yield* Effect.flip(share("none", Effect.fail("no"))), "no")
    assert.deepStrictEqual(
      yield* Effect.all([share("one", Effect.succeed(1)), share("two", Effect.succeed(2))], {
        concurrency: "unbounded",
      }),
      [1, 2],
    )
  }).pipe(Effect.scoped),
)

it.effect("sharedWork repeats completed work for the next caller", () =>
  Effect.gen(function* () {
    const share = yield* sharedWork<number, string>()
    let runs = 0
    const work = Effect.sync(() => ++runs)
    for (const run of [1, 2]) {
      assert.strictEqual(yield* share("one", work), run)
      // Lets the run itself complete as well.
      for (let n = 0; n < 5; n++) yield* Effect.yieldNow
      assert.strictEqual(runs, run)
    }
  }).pipe(Effect.scoped),
)
