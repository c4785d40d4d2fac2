import { layer } from "@data-cabinet/core/file/AcceptLoop"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ImportsInMemory } from "./ImportsInMemory.ts"

/** Seals an import of this many rows, which no process holds. */
const seal = (all: ImportsInMemory, count: number) => {
  const wanted = { sourceId: 1, channel: "file", history: true, name: "a.csv", sha256: null } as const
  const began = all.begin({ ...wanted, bytes: 9, once: false, pollId: null })
  if (!("held" in began)) return assert.fail("It was begun before.")
  const rows = Array.from({ length: count }, (_, n) => ({ n, payload: `{"n":${n}}`, empty: false, key: null }))
  all.imports[began.held.id - 1]!.rows = rows
  all.seal(began.held, { staged: count, refused: 0, doubts: [] })
}

const pass = Effect.fnUntraced(function* (seconds: number) {
  for (let n = 0; n < seconds; n++) {
    yield* TestClock.adjust("1 second")
    yield* Effect.promise(() => new Promise((end) => setImmediate(end)))
  }
})

it.effect("AcceptLoop takes over the imports of a lost process within seconds, and sweeps ended ones", () => {
  const all = new ImportsInMemory()
  let sweeps = 0
  all.fault = (call) => {
    if (call === "sweep") sweeps++
    return undefined
  }
  return Effect.gen(function* () {
    yield* Layer.build(Layer.provide(layer, all.layer))
    seal(all, 3)
    seal(all, 2)
    yield* pass(5)
    assert.deepStrictEqual(
      all.imports.map(({ status }) => [status.state, status.accepted]),
      [
        ["done", 3],
        ["done", 2],
      ],
    )
    assert.lengthOf(all.events, 5)
    yield* pass(170)
    assert.isAtLeast(sweeps, 3)
    assert.isAtMost(sweeps, 5)
  })
})

it.effect("AcceptLoop releases its import when the process stops", () => {
  const all = new ImportsInMemory()
  return Effect.gen(function* () {
    seal(all, 1_000)
    // The lookup of the source never ends.
    Object.assign(all.sources, { forIntake: () => Effect.never })
    yield* Effect.scoped(Effect.andThen(Layer.build(Layer.provide(layer, all.layer)), pass(3)))
    assert.deepInclude(all.imports[0]!, { lease: null, why: null })
    assert.strictEqual(all.imports[0]!.status.state, "accepting")
  })
})
