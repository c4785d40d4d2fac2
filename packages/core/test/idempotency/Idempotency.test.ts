import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Idempotency, IdempotencyError, type KeyedWork } from "@data-cabinet/core/idempotency/Idempotency"
import { IdempotencyStore, type KeyedRequest } from "@data-cabinet/core/idempotency/IdempotencyStore"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Layer } from "effect"

interface Entry {
  readonly id: number
  readonly request: string
  response: string | null
  ageSeconds: number
}

/** Records in memory, whose age a test can set. */
const store = () => {
  const records = new Map<string, Entry>()
  const state = { records, transactions: 0, inTransaction: false, completedWithin: [] as Array<boolean>, begun: 0 }
  const keyOf = (id: number) => [...records].find(([, record]) => record.id === id)?.[0]
  const layer = Idempotency.layer.pipe(
    Layer.provide(
      Layer.succeed(IdempotencyStore, {
        claim: ({ actor, key, request }, keepSeconds) =>
          Effect.sync(() => {
            const place = `${actor} ${key}`
            const record = records.get(place)
            if (record !== undefined && record.ageSeconds < keepSeconds)
              return { is: "found", sameRequest: record.request === request, ...record }
            records.set(place, { id: ++state.begun, request, response: null, ageSeconds: 0 })
            return { is: "claimed", id: state.begun }
          }),
        complete: (id, response) =>
          Effect.sync(() => {
            const key = keyOf(id)
            if (key === undefined) return false
            state.completedWithin.push(state.inTransaction)
            records.get(key)!.response = response
            return true
          }),
        release: (id) =>
          Effect.sync(() => {
            const key = keyOf(id)
            if (key !== undefined && records.get(key)!.response === null) records.delete(key)
          }),
        transaction: (work) =>
          Effect.suspend(() => {
            state.transactions++
            state.inTransaction = true
            return Effect.ensuring(
              work,
              Effect.sync(() => (state.inTransaction = false)),
            )
          }),
      }),
    ),
  )
  return { ...state, state, layer }
}

const REQUEST: KeyedRequest = { actor: "anna", key: "k1", request: "POST /orders 1" }

/** Work that counts its runs. */
const work = (completed: KeyedWork<number, never, never>["completed"] = "transaction") => {
  const done = { times: 0 }
  const keyed: KeyedWork<number, never, never> = {
    completed,
    work: Effect.sync(() => ++done.times),
    kept: (result) => `made ${result}`,
  }
  return { done, keyed }
}

const once = <A, E>(request: KeyedRequest, keyed: KeyedWork<A, E, never>) =>
  Effect.flatMap(Idempotency, (idempotency) => idempotency.once(request, keyed))

const codeOf = (refused: unknown) => (refused instanceof IdempotencyError ? refused.code : refused)

describe("Idempotency.once", () => {
  it.effect("does the work once, and returns the first response to a repeat", () => {
    const { layer } = store()
    const { done, keyed } = work()
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* once(REQUEST, keyed), { replayed: false, result: 1 })
      assert.deepStrictEqual(yield* once(REQUEST, keyed), { replayed: true, response: "made 1" })
      assert.strictEqual(done.times, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("separates equal keys of different clients, and refuses a different request under one key", () => {
    const { layer } = store()
    const { done, keyed } = work()
    return Effect.gen(function* () {
      yield* once(REQUEST, keyed)
      assert.deepStrictEqual(yield* once({ ...REQUEST, actor: "bob" }, keyed), { replayed: false, result: 2 })
      const refused = yield* Effect.flip(once({ ...REQUEST, request: "POST /orders 2" }, keyed))
      assert.strictEqual(codeOf(refused), "idempotency_mismatch")
      assert.strictEqual(done.times, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("refuses a repeat while the first runs, and reports an unknown outcome after a minute", () => {
    const { layer, records } = store()
    return Effect.gen(function* () {
      const end = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(
        once(REQUEST, { completed: "after", work: Deferred.await(end), kept: () => "made" }),
      )
      yield* Effect.yieldNow
      const { done, keyed } = work()
      const [record] = records.values()
      for (const [ageSeconds, code] of [
        [0, "in_progress"],
        [59.9, "in_progress"],
        [60, "outcome_unknown"],
        [86_399, "outcome_unknown"],
      ] as const) {
        record!.ageSeconds = ageSeconds
        assert.strictEqual(codeOf(yield* Effect.flip(once(REQUEST, keyed))), code)
      }
      assert.strictEqual(done.times, 0)
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(first)
      assert.deepStrictEqual(yield* once(REQUEST, keyed), { replayed: true, response: "made" })
    }).pipe(Effect.provide(layer))
  })

  it.effect("keeps a response for a day", () => {
    const { layer, records } = store()
    const { keyed } = work()
    return Effect.gen(function* () {
      yield* once(REQUEST, keyed)
      const [record] = records.values()
      record!.ageSeconds = 86_399
      assert.isTrue((yield* once(REQUEST, keyed)).replayed)
      record!.ageSeconds = 86_400
      assert.deepStrictEqual(yield* once(REQUEST, keyed), { replayed: false, result: 2 })
    }).pipe(Effect.provide(layer))
  })

  it.effect("completes the work after its caller has left", () => {
    const { layer } = store()
    return Effect.gen(function* () {
      const end = yield* Deferred.make<void>()
      const left = yield* Effect.forkChild(
        once(REQUEST, { completed: "transaction", work: Deferred.await(end), kept: () => "made" }),
      )
      yield* Effect.yieldNow
      yield* Fiber.interrupt(left)
      yield* Deferred.succeed(end, undefined)
      yield* Effect.yieldNow
      const { done, keyed } = work()
      assert.deepStrictEqual(yield* once(REQUEST, keyed), { replayed: true, response: "made" })
      assert.strictEqual(done.times, 0)
    }).pipe(Effect.provide(layer))
  })

  it.effect("completes a record in its work's transaction, or after work without one", () => {
    const { layer, state } = store()
    return Effect.gen(function* () {
      yield* once(REQUEST, work("transaction").keyed)
      assert.deepStrictEqual([state.transactions, state.completedWithin], [1, [true]])
      yield* once({ ...REQUEST, key: "k2" }, work("after").keyed)
      assert.deepStrictEqual([state.transactions, state.completedWithin], [1, [true, false]])
    }).pipe(Effect.provide(layer))
  })

  it.effect("rolls back the transaction if the record disappeared during the work", () => {
    const { layer, records } = store()
    const { keyed } = work()
    return Effect.gen(function* () {
      const released = { ...keyed, work: Effect.tap(keyed.work, () => Effect.sync(() => records.clear())) }
      assert.isTrue(Exit.hasDies(yield* Effect.exit(once(REQUEST, released))))
    }).pipe(Effect.provide(layer))
  })

  const away = new StoreUnavailable({ message: "away", retryAfter: 5, outcomeUnknown: true })

  it.effect.each([
    // In a transaction, nothing was done.
    ["transaction", "a refusal", Effect.fail("no"), true],
    ["transaction", "an unavailable database", Effect.fail(away), true],
    ["transaction", "a defect", Effect.die("bug"), true],
    ["after", "a refusal", Effect.fail("no"), true],
    // The work may have had effects outside the database.
    ["after", "an unavailable database", Effect.fail(away), false],
    ["after", "a defect", Effect.die("bug"), false],
    ["after", "an interruption", Effect.interrupt, false],
    [
      "after",
      "a refusal with a defect beside it",
      Effect.failCause(Cause.combine(Cause.fail("no"), Cause.die("bug"))),
      false,
    ],
  ] as const)("%s: after %s the work can be sent again: %4$s", ([completed, , failing, again]) => {
    const { layer } = store()
    const { keyed } = work(completed)
    return Effect.gen(function* () {
      assert.isTrue(
        Exit.isFailure(
          yield* Effect.exit(once<number, string | StoreUnavailable>(REQUEST, { ...keyed, work: failing })),
        ),
      )
      const repeat = yield* Effect.exit(once(REQUEST, keyed))
      assert.strictEqual(Exit.isSuccess(repeat), again)
      if (!again) assert.strictEqual(codeOf(yield* Effect.flip(once(REQUEST, keyed))), "in_progress")
    }).pipe(Effect.provide(layer))
  })
})
