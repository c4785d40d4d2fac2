import { fromCall, OwnCall, withDeadline } from "@data-cabinet/core/runtime/AbortableCall"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"

const call = () => new OwnCall(Number.POSITIVE_INFINITY, Context.empty())

it("OwnCall notifies each listener once, and a late one immediately", () => {
  const told: Array<string> = []
  const own = call()
  const stop = own.onAbort(() => told.push("stopped"))
  own.onAbort(() => told.push("first"))
  own.onAbort(() => told.push("second"))
  stop()
  assert.isFalse(own.isAborted)
  own.abort()
  own.abort()
  own.onAbort(() => told.push("late"))
  assert.isTrue(own.isAborted)
  assert.deepStrictEqual(told, ["first", "second", "late"])
})

it.effect("withDeadline returns `late` at the deadline and aborts the work without awaiting it", () =>
  Effect.gen(function* () {
    const wheel = yield* timerWheel
    const aborted: Array<string> = []
    const until = wheel.now() + 1_000
    const never = withDeadline(wheel, call(), until, "late", (own) => {
      own.onAbort(() => aborted.push("never"))
      return new Promise<string>(() => {})
    })
    const quick = withDeadline(wheel, call(), until, "late", async (own) => {
      own.onAbort(() => aborted.push("quick"))
      return "quick"
    })
    const broken = withDeadline(wheel, call(), until, "late", () => Promise.reject(new Error("broken")))
    assert.strictEqual(yield* Effect.promise(() => quick), "quick")
    assert.match(String(yield* Effect.promise(() => broken.catch((fault: unknown) => fault))), /broken/)
    yield* TestClock.adjust(1_250)
    assert.strictEqual(yield* Effect.promise(() => never), "late")
    assert.deepStrictEqual(aborted, ["never"])
  }).pipe(Effect.scoped),
)

it.effect("withDeadline aborts its work with its call, and awaits the end of it", () =>
  Effect.gen(function* () {
    const outer = call()
    const work = withDeadline(
      yield* timerWheel,
      outer,
      Number.POSITIVE_INFINITY,
      "late",
      (own) => new Promise<string>((resolve) => own.onAbort(() => setImmediate(() => resolve("ended")))),
    )
    outer.abort()
    assert.strictEqual(yield* Effect.promise(() => work), "ended")
  }).pipe(Effect.scoped),
)

it("fromCall returns the result, dies of a fault, and is interrupted once the work has ended", async () => {
  const run = <A, E>(work: Effect.Effect<A, E>) => Effect.runPromiseExit(work)
  assert.deepStrictEqual(await run(fromCall(async () => Result.succeed(1))), Exit.succeed(1))
  assert.deepStrictEqual(await run(fromCall(async () => Result.fail("no"))), Exit.fail("no"))
  assert.match(String(await run(fromCall(() => Promise.reject(new Error("broken"))))), /Die.*broken/)
  let ended = false
  const fiber = Effect.runFork(
    fromCall(
      (own) =>
        new Promise<Result.Result<void>>((resolve) => {
          own.onAbort(() =>
            setImmediate(() => {
              ended = true
              resolve(Result.succeed(undefined))
            }),
          )
        }),
    ),
  )
  await new Promise(setImmediate)
  await Effect.runPromise(Fiber.interrupt(fiber))
  assert.isTrue(ended)
})
