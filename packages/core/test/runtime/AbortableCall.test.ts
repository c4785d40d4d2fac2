import { type AbortableCall, fromCall, OwnCall, withDeadline } from "@data-cabinet/core/runtime/AbortableCall"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"

const Name = Context.Reference<string>("test/Name", { defaultValue: () => "nobody" })

const call = () => new OwnCall(Number.POSITIVE_INFINITY, Context.empty())

it("OwnCall stops notifying a listener that unsubscribes, and only that one", () => {
  const told: Array<string> = []
  const own = call()
  const stops = ["first", "second", "third"].map((name) => own.onAbort(() => told.push(name)))
  stops[1]!()
  stops[1]!()
  own.abort()
  assert.deepStrictEqual(told, ["first", "third"])
})

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

it.effect("withDeadline gives its work the deadline and the call's context, and leaves nothing behind", () =>
  Effect.gen(function* () {
    const wheel = yield* timerWheel
    const outer = new OwnCall(Number.POSITIVE_INFINITY, Context.make(Name, "somebody"))
    let listening = 0
    const counting: AbortableCall = {
      deadline: outer.deadline,
      context: outer.context,
      isAborted: false,
      onAbort: () => (listening++, () => void listening--),
    }
    const until = wheel.now() + 1_000
    const begun: Array<AbortableCall> = []
    const over = (work: () => Promise<string>) =>
      withDeadline(wheel, counting, until, "late", (own) => {
        begun.push(own)
        return work()
      })
    const never = over(() => new Promise(() => {}))
    const done = over(async () => "done")
    const broken = over(() => Promise.reject(new Error("broken")))
    assert.deepStrictEqual(
      begun.map(({ deadline, context }) => [deadline, Context.get(context, Name)]),
      begun.map(() => [until, "somebody"]),
    )
    assert.strictEqual(listening, 3)
    yield* Effect.promise(() => Promise.allSettled([done, broken]))
    assert.strictEqual(listening, 1)
    yield* TestClock.adjust(1_250)
    assert.strictEqual(yield* Effect.promise(() => never), "late")
    assert.strictEqual(listening, 0)
    // Work that ended in time is not aborted at the deadline.
    assert.deepStrictEqual(
      begun.map(({ isAborted }) => isAborted),
      [true, false, false],
    )
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
