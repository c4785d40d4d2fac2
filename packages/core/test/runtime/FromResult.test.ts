import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Result } from "effect"
import { type AbortableCall, OwnCall } from "../../src/runtime/AbortableCall.ts"
import { fromResult, runResult } from "../../src/runtime/FromResult.ts"

const Name = Context.Reference<string>("test/Name", { defaultValue: () => "nobody" })

describe("fromResult", () => {
  it.effect("returns the call's result, its error as an error, and an exception as a fault", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* fromResult(async () => Result.succeed("a")), "a")
      assert.strictEqual(yield* Effect.flip(fromResult(async () => Result.fail("no"))), "no")
      const fault = new Error("a fault")
      assert.deepStrictEqual(yield* Effect.exit(fromResult(() => Promise.reject(fault))), Exit.die(fault))
    }),
  )

  it.effect("runs the call each time, and aborts it when its caller has left", () =>
    Effect.gen(function* () {
      const signals: Array<AbortSignal> = []
      const work = fromResult((signal) => {
        signals.push(signal)
        return new Promise<Result.Result<never>>(() => {})
      })
      assert.strictEqual(signals.length, 0)
      const fibers = [yield* Effect.forkChild(work), yield* Effect.forkChild(work)]
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fibers[0]!)
      assert.deepStrictEqual(
        signals.map(({ aborted }) => aborted),
        [true, false],
      )
    }),
  )
})

describe("runResult", () => {
  it("resolves with the result of an Effect under a context, and rejects with its fault", async () => {
    const context = Context.make(Name, "somebody")
    assert.deepStrictEqual(await runResult(Name, context), Result.succeed("somebody"))
    assert.deepStrictEqual(await runResult(Effect.fail("no"), context), Result.fail("no"))
    const fault = new Error("a fault")
    assert.deepStrictEqual(await runResult(Effect.die(fault), context).catch((reason: unknown) => reason), fault)
  })

  it("is interrupted with its call, and removes its listener when it ends", async () => {
    const call = new OwnCall(Number.POSITIVE_INFINITY, Context.empty())
    let stopped = false
    const work = Effect.onInterrupt(Effect.never, () => Effect.sync(() => (stopped = true)))
    const waiting = runResult(work, call.context, call).catch((reason: unknown) => reason)
    call.abort()
    assert.instanceOf(await waiting, Error)
    assert.isTrue(stopped)
    let listening = 0
    const counting: AbortableCall = {
      ...call,
      isAborted: false,
      onAbort: () => (listening++, () => void listening--),
    }
    assert.deepStrictEqual(await runResult(Effect.succeed(1), call.context, counting), Result.succeed(1))
    assert.strictEqual(listening, 0)
  })

  it("rejects when the Effect was interrupted", async () => {
    assert.instanceOf(await runResult(Effect.interrupt, Context.empty()).catch((reason: unknown) => reason), Error)
  })
})
