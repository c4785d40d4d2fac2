import { Deferred, Effect } from "effect"
import { assert, it } from "vitest"
import { sharedCheck } from "../../src/server/SharedCheck.ts"

/** A check that counts its runs, and completes on command. */
const counted = () => {
  const gates: Array<Deferred.Deferred<string>> = []
  const check = Effect.suspend(() => {
    const gate = Deferred.makeUnsafe<string>()
    gates.push(gate)
    return Deferred.await(gate)
  })
  return { gates, check }
}
const answerWith = (gate: Deferred.Deferred<string>, answer: string) => Effect.runSync(Deferred.succeed(gate, answer))

it("sharedCheck runs once for all callers during a check, and for callers soon after", async () => {
  const { gates, check } = counted()
  const shared = Effect.runSync(sharedCheck({ check, cacheMillis: 60_000, timeoutMillis: 60_000, late: "late" }))
  const all = Array.from({ length: 200 }, () => Effect.runPromise(shared))
  assert.equal(gates.length, 1)
  answerWith(gates[0]!, "well")
  assert.deepEqual([...new Set(await Promise.all(all))], ["well"])
  assert.equal(await Effect.runPromise(shared), "well")
  assert.equal(gates.length, 1)
})

it("sharedCheck returns the result of a check that completes synchronously", async () => {
  const shared = Effect.runSync(
    sharedCheck({ check: Effect.succeed("well"), cacheMillis: 0, timeoutMillis: 60_000, late: "late" }),
  )
  assert.equal(await Effect.runPromise(shared), "well")
  assert.equal(await Effect.runPromise(shared), "well")
})

it("sharedCheck checks again once a result has expired", async () => {
  const { gates, check } = counted()
  const shared = Effect.runSync(sharedCheck({ check, cacheMillis: 0, timeoutMillis: 60_000, late: "late" }))
  for (const answer of ["well", "ill"]) {
    const asked = Effect.runPromise(shared)
    answerWith(gates.at(-1)!, answer)
    assert.equal(await asked, answer)
  }
  assert.equal(gates.length, 2)
})

it("sharedCheck keeps no caller waiting for a check that neither returns nor can be interrupted", async () => {
  let begun = 0
  const check = Effect.uninterruptible(
    Effect.andThen(
      Effect.sync(() => (begun += 1)),
      Effect.never,
    ),
  )
  const shared = Effect.runSync(sharedCheck<string>({ check, cacheMillis: 0, timeoutMillis: 10, late: "late" }))
  assert.deepEqual(await Promise.all([Effect.runPromise(shared), Effect.runPromise(shared)]), ["late", "late"])
  assert.equal(begun, 1)
  assert.equal(await Effect.runPromise(shared), "late")
  assert.equal(begun, 2)
})

it("sharedCheck still returns to the others when one caller leaves", async () => {
  const { gates, check } = counted()
  const shared = Effect.runSync(sharedCheck({ check, cacheMillis: 0, timeoutMillis: 60_000, late: "late" }))
  const gone = Effect.runFork(shared)
  const stays = Effect.runPromise(shared)
  gone.interruptUnsafe()
  answerWith(gates[0]!, "well")
  assert.equal(await stays, "well")
})
