/** Groups take turns, a full queue makes room for a small group, and a caller that leaves frees its slot. */
import { FairTurns } from "@data-cabinet/core/limit/FairTurns"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"

const LIMITS = { ofClient: 3, ofGroup: 4, total: 6 }

/** Work that records its begin, and ends when the gate opens. */
const recorder = Effect.gen(function* () {
  const gate = yield* Deferred.make<void>()
  const began: Array<string> = []
  const turns = new FairTurns(LIMITS)
  const run = (group: string, client: string) =>
    turns.run(
      group,
      client,
      Effect.suspend(() => (began.push(client), Deferred.await(gate))),
      "refused" as const,
    )
  const fork = (group: string, client: string) =>
    Effect.forkChild(Effect.exit(run(group, client)), { startImmediately: true })
  return { gate, began, run, fork }
})

it.effect(
  "FairTurns alternates between groups when one has many waiting",
  Effect.fn(function* () {
    const { gate, began, fork } = yield* recorder
    const fibers = [
      yield* fork("A", "a1"),
      yield* fork("A", "a2"),
      yield* fork("A", "a3"),
      yield* fork("B", "b1"),
      yield* fork("C", "c1"),
    ]
    yield* Deferred.succeed(gate, undefined)
    yield* Effect.forEach(fibers, Fiber.join)
    assert.deepStrictEqual(began, ["a1", "a2", "b1", "c1", "a3"])
  }),
)

it.effect(
  "FairTurns bounds a client over all groups, and a group over all clients",
  Effect.fn(function* () {
    const { gate, run, fork } = yield* recorder
    const fibers = [yield* fork("A", "x"), yield* fork("B", "x"), yield* fork("C", "x")]
    assert.strictEqual(yield* Effect.flip(run("D", "x")), "refused")
    fibers.push(yield* fork("A", "a"), yield* fork("A", "b"), yield* fork("A", "c"))
    assert.strictEqual(yield* Effect.flip(run("A", "d")), "refused")
    yield* Deferred.succeed(gate, undefined)
    yield* Effect.forEach(fibers, Fiber.join)
    yield* run("D", "x")
  }),
)

it.effect(
  "FairTurns displaces the newest member of the largest group when a smaller group finds no slot",
  Effect.fn(function* () {
    const { gate, began, run, fork } = yield* recorder
    const running = yield* fork("A", "a1")
    const large = [yield* fork("A", "a2"), yield* fork("A", "a3"), yield* fork("A", "a4")]
    const small = [yield* fork("B", "b1"), yield* fork("B", "b2")]
    const late = yield* fork("C", "c1")
    assert.isTrue((yield* Fiber.join(large[2]!)).toString().includes("refused"))
    assert.strictEqual(yield* Effect.flip(run("B", "b3")), "refused")
    yield* Deferred.succeed(gate, undefined)
    yield* Effect.forEach([running, ...large, ...small, late], Fiber.join)
    assert.notInclude(began, "a4")
    assert.includeMembers(began, ["a2", "a3", "b1", "b2", "c1"])
  }),
)

it.effect(
  "FairTurns frees the slot of interrupted work, waiting or running",
  Effect.fn(function* () {
    const { gate, began, run, fork } = yield* recorder
    const first = yield* fork("A", "a1")
    for (let n = 0; n < 20; n++) yield* Fiber.interrupt(yield* fork("B", "b1"))
    const next = yield* fork("C", "c1")
    yield* Fiber.interrupt(first)
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(next)
    assert.deepStrictEqual(began, ["a1", "c1"])
    yield* run("A", "a1")
  }),
)
