/** Passwords are computed one after the other; few wait, and fewer of one client. */
import type { SignInError } from "@data-cabinet/core/person/PersonError"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { PasswordQueue } from "@data-cabinet/core/person/Password"

const GROUP = Symbol("people of a cabinet")

const isRefused = (exit: Exit.Exit<unknown, SignInError>) =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some(
    (reason) => reason._tag === "Fail" && reason.error.code === "rate_limited" && reason.error.retryAfter === 5,
  )

it.effect(
  "PasswordQueue computes one password at a time, in the order in which they came",
  Effect.fn(function* () {
    const queue = new PasswordQueue()
    const began: Array<string> = []
    const gates = new Map<string, Deferred.Deferred<void>>()
    const compute = (client: string) =>
      Effect.gen(function* () {
        const gate = yield* Deferred.make<void>()
        gates.set(client, gate)
        return yield* Effect.forkChild(
          queue.run(
            GROUP,
            client,
            Effect.suspend(() => (began.push(client), Effect.as(Deferred.await(gate), client))),
          ),
          { startImmediately: true },
        )
      })
    const fibers = yield* Effect.forEach(["a", "b", "c"], compute)
    for (const [n, client] of ["a", "b", "c"].entries()) {
      assert.deepStrictEqual(began, ["a", "b", "c"].slice(0, n + 1))
      yield* Deferred.succeed(gates.get(client)!, undefined)
      assert.strictEqual(yield* Fiber.join(fibers[n]!), client)
      yield* Effect.yieldNow
    }
  }),
)

it.effect(
  "PasswordQueue refuses the eleventh of a group, and the third of one client, until there is room again",
  Effect.fn(function* () {
    const queue = new PasswordQueue()
    const gate = yield* Deferred.make<void>()
    const compute = (client: string) => queue.run(GROUP, client, Deferred.await(gate))
    const waiting = yield* Effect.forEach(["a", "a", "b", "c", "d", "e", "f", "g", "h"], (client) =>
      Effect.forkChild(compute(client), { startImmediately: true }),
    )
    assert.isTrue(isRefused(yield* Effect.exit(compute("a"))))
    const tenth = yield* Effect.forkChild(compute("i"), { startImmediately: true })
    assert.isTrue(isRefused(yield* Effect.exit(compute("j"))))
    yield* Deferred.succeed(gate, undefined)
    yield* Effect.forEach([...waiting, tenth], Fiber.join)
    assert.isTrue(Exit.isSuccess(yield* Effect.exit(compute("a"))))
  }),
)

it.effect(
  "PasswordQueue frees the slot of a caller that leaves, for its client and for all",
  Effect.fn(function* () {
    const queue = new PasswordQueue()
    const gate = yield* Deferred.make<void>()
    const compute = (client: string) =>
      Effect.forkChild(queue.run(GROUP, client, Deferred.await(gate)), { startImmediately: true })
    const first = yield* compute("a")
    for (let n = 0; n < 20; n++) {
      const second = yield* compute("a")
      assert.isTrue(isRefused(yield* Effect.exit(queue.run(GROUP, "a", Effect.void))))
      yield* Fiber.interrupt(second)
    }
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(first)
    assert.isTrue(Exit.isSuccess(yield* Effect.exit(queue.run(GROUP, "a", Effect.void))))
  }),
)

it.effect(
  "PasswordQueue keeps the slot of a running computation after its caller has left",
  Effect.fn(function* () {
    const queue = new PasswordQueue()
    const gate = yield* Deferred.make<void>()
    const gone = yield* Effect.forkChild(queue.run(GROUP, "a", Deferred.await(gate)), { startImmediately: true })
    const leaving = yield* Effect.forkChild(Fiber.interrupt(gone), { startImmediately: true })
    let ran = false
    const next = yield* Effect.forkChild(
      queue.run(
        GROUP,
        "b",
        Effect.sync(() => void (ran = true)),
      ),
      { startImmediately: true },
    )
    assert.isFalse(ran)
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(leaving)
    yield* Fiber.join(next)
    assert.isTrue(ran)
  }),
)

it.effect(
  "PasswordQueue computes another cabinet's password next when one cabinet's queue is full",
  Effect.fn(function* () {
    const queue = new PasswordQueue()
    const flooded = Symbol("a flooded cabinet")
    const gate = yield* Deferred.make<void>()
    const began: Array<string> = []
    const compute = (group: symbol, client: string) =>
      Effect.forkChild(
        queue.run(
          group,
          client,
          Effect.suspend(() => (began.push(client), Deferred.await(gate))),
        ),
        { startImmediately: true },
      )
    const flood = yield* Effect.forEach(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"], (client) =>
      compute(flooded, client),
    )
    assert.isTrue(isRefused(yield* Effect.exit(queue.run(flooded, "k", Effect.void))))
    const honest = yield* compute(GROUP, "honest")
    yield* Deferred.succeed(gate, undefined)
    yield* Effect.forEach([...flood, honest], Fiber.join)
    assert.strictEqual(began.indexOf("honest"), 2)
  }),
)
