import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Result } from "effect"
import { fromResult, runResult } from "../../src/runtime/FromResult.ts"

const Name = Context.Reference<string>("test/Name", { defaultValue: () => "nobody" })

describe("fromResult", () => {
  it.effect("has the call's result, its error as an error, and what it throws as a fault", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* fromResult(async () => Result.succeed("a")), "a")
      assert.strictEqual(yield* Effect.flip(fromResult(async () => Result.fail("no"))), "no")
      const fault = new Error("a fault")
      assert.deepStrictEqual(yield* Effect.exit(fromResult(() => Promise.reject(fault))), Exit.die(fault))
    }),
  )

  it.effect("calls on each run, and aborts the call when nobody waits any more", () =>
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
  it("has the result of an Effect under a context, and rejects with its fault", async () => {
    const context = Context.make(Name, "somebody")
    assert.deepStrictEqual(await runResult(Name, context), Result.succeed("somebody"))
    assert.deepStrictEqual(await runResult(Effect.fail("no"), context), Result.fail("no"))
    const fault = new Error("a fault")
    assert.deepStrictEqual(await runResult(Effect.die(fault), context).catch((reason: unknown) => reason), fault)
  })

  it("rejects where the Effect was interrupted", async () => {
    assert.instanceOf(await runResult(Effect.interrupt, Context.empty()).catch((reason: unknown) => reason), Error)
  })
})
