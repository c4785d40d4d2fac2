/** Effects behind routes: the context in which they run, and when they end. */
import { Context, Effect, Exit, Fiber, Scope } from "effect"
import { assert, it } from "vitest"
import { effectRunner } from "../../src/server/EffectRunner.ts"
import { type Request, RequestGone } from "../../src/server/Request.ts"

const Name = Context.Reference<string>("test/Name", { defaultValue: () => "nobody" })

/** A request whose client disconnects on command, and that still has a listener for it. */
const requestOf = (context = Context.empty()) => {
  const listening = new Set<() => void>()
  const request = {
    context,
    onGone: (leave: () => void) => {
      listening.add(leave)
      return () => void listening.delete(leave)
    },
  } as Request
  return { request, listening, leave: () => listening.forEach((each) => each()) }
}

const running = async () => {
  const scope = Scope.makeUnsafe()
  const run = await Effect.runPromise(Effect.provideService(effectRunner, Scope.Scope, scope))
  return { run, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail("it was answered"),
    (reason: unknown) => reason,
  )

it("effectRunner runs under the request's context, and rejects with the thrown value", async () => {
  const { run, close } = await running()
  const { request, listening } = requestOf(Context.make(Name, "somebody"))
  assert.equal(await run(request, Name), "somebody")
  const fault = new Error("a fault")
  assert.equal(await reasonOf(run(request, Effect.die(fault))), fault)
  assert.equal(listening.size, 0)
  await close()
})

it("effectRunner interrupts only the work of the client that disconnects", async () => {
  const { run, close } = await running()
  const [gone, stays] = [requestOf(), requestOf()]
  const ended: Array<string> = []
  const work = (name: string) => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void ended.push(name)))
  const left = reasonOf(run(gone.request, work("gone")))
  const kept = reasonOf(run(stays.request, work("stays")))
  gone.leave()
  assert.instanceOf(await left, RequestGone)
  assert.deepEqual(ended, ["gone"])
  await close()
  assert.instanceOf(await kept, RequestGone)
  assert.deepEqual(ended, ["gone", "stays"])
})

it("effectRunner closes once interrupted work has cleaned up", async () => {
  const { run, close } = await running()
  const order: Array<string> = []
  const slow = Effect.andThen(
    Effect.sleep("20 millis"),
    Effect.sync(() => void order.push("cleaned up")),
  )
  const under = reasonOf(
    run(
      requestOf().request,
      Effect.onInterrupt(Effect.never, () => slow),
    ),
  )
  await close()
  order.push("closed")
  assert.instanceOf(await under, RequestGone)
  assert.deepEqual(order, ["cleaned up", "closed"])
  assert.isUndefined(Fiber.getCurrent())
})
