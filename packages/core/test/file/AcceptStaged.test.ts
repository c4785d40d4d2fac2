/** Accepting the staged rows of an import, whatever happens meanwhile: each row becomes an event once, in order. */
import { AcceptStaged } from "@data-cabinet/core/file/AcceptStaged"
import { stageBatches } from "@data-cabinet/core/file/StageBatches"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Option } from "effect"
import { TestClock } from "effect/testing"
import { Random, Seed } from "../intake/Random.ts"
import { ImportsInMemory, type StoreCall } from "./ImportsInMemory.ts"

const textOf = (n: number) => `{"n":${n}}`
const textsTo = (count: number) => Array.from({ length: count }, (_, n) => textOf(n))

/** Imports, one of which is sealed and claimed. */
const sealed = Effect.fnUntraced(function* (count: number, { history = false } = {}) {
  const all = new ImportsInMemory()
  const wanted = {
    sourceId: 1,
    channel: "file",
    name: "a.csv",
    sha256: null,
    bytes: 9,
    once: false,
    pollId: null,
  } as const
  const began = all.begin({ ...wanted, history })
  if (!("held" in began)) return assert.fail("It was begun before.")
  const staging = stageBatches(all.store, began.held)
  yield* staging.add(textsTo(count).map((payload) => ({ payload, empty: false })))
  yield* staging.flush
  all.seal(began.held, { staged: count, refused: 0, doubts: [] })
  return { all, claimed: Option.getOrThrow(all.claim(1)) }
})

type Sealed = Effect.Success<ReturnType<typeof sealed>>

/** Runs to the end, however long it sleeps. */
const accepted = Effect.fnUntraced(function* (
  { all, claimed }: Sealed,
  onProgress?: (count: number) => Effect.Effect<void>,
) {
  const run = AcceptStaged.use(({ run: accept }) => accept(claimed, onProgress))
  const fiber = yield* Effect.forkChild(Effect.exit(Effect.provide(run, all.layer)))
  for (let n = 0; n < 300 && fiber.pollUnsafe() === undefined; n++) {
    yield* TestClock.adjust("1 second")
    yield* Effect.promise(() => new Promise((end) => setImmediate(end)))
  }
  if (fiber.pollUnsafe() === undefined) return assert.fail("It has not ended.")
  return yield* yield* Fiber.join(fiber)
})

const silent = Logger.layer([])

it.effect("AcceptStaged turns every staged row into an event, in order, and reports the count", () =>
  Effect.gen(function* () {
    const one = yield* sealed(1_234, { history: true })
    const counts: Array<number> = []
    const outcome = yield* accepted(one, (count) => Effect.sync(() => void counts.push(count)))
    assert.strictEqual(outcome, "done")
    assert.deepStrictEqual(
      one.all.events.map(({ text }) => text),
      textsTo(1_234),
    )
    assert.deepInclude(one.all.events[0]!, { sourceId: 1, channel: "file", history: true, empty: false })
    assert.deepStrictEqual(counts, [500, 1_000, 1_234])
    // Each row is read once: the next slice is read while one is written.
    assert.deepStrictEqual(one.all.slices, [500, 500, 234])
    assert.deepInclude(one.all.imports[0]!, { rows: [], lease: null })
    assert.strictEqual(one.all.imports[0]!.status.state, "done")
  }),
)

it.effect.prop(
  "an unavailable database and commits of unknown outcome lose no row and repeat none",
  [Seed],
  ([seed]) =>
    Effect.gen(function* () {
      const random = new Random(seed)
      const count = random.below(2_000)
      const one = yield* sealed(count)
      const fails = random.below(70)
      const failing: ReadonlyArray<StoreCall> = ["slice", "append", "appended", "renew", "finish"]
      one.all.fault = (call) => (failing.includes(call) && random.below(100) < fails ? "unavailable" : undefined)
      assert.strictEqual(yield* accepted(one), "done")
      assert.deepStrictEqual(
        one.all.events.map(({ text }) => text),
        textsTo(count),
      )
    }).pipe(Effect.provide(silent)),
  { arbitrary: { runs: 15 } },
)

it.effect("AcceptStaged loses no row when the source changes meanwhile", () =>
  Effect.gen(function* () {
    const one = yield* sealed(2_600)
    const outcome = yield* accepted(one, () => Effect.sync(() => void one.all.sourceVersion++))
    assert.strictEqual(outcome, "done")
    assert.deepStrictEqual(
      one.all.events.map(({ text }) => text),
      textsTo(2_600),
    )
  }),
)

it.effect("AcceptStaged waits while the source is switched off, and then continues where it stopped", () =>
  Effect.gen(function* () {
    const one = yield* sealed(1_100)
    const outcome = yield* accepted(one, () => Effect.sync(() => void (one.all.source = "off")))
    assert.strictEqual(outcome, "waiting")
    assert.deepInclude(one.all.imports[0]!, { lease: null, why: "the source is switched off" })
    assert.strictEqual(one.all.imports[0]!.status.state, "accepting")
    one.all.source = "on"
    const claimed = Option.getOrThrow(one.all.claim(1))
    assert.strictEqual(claimed.accepted, 500)
    assert.strictEqual(yield* accepted({ ...one, claimed }), "done")
    assert.deepStrictEqual(
      one.all.events.map(({ text }) => text),
      textsTo(1_100),
    )
  }),
)

it.effect("AcceptStaged ends an import of a deleted source, and reports that it is incomplete", () =>
  Effect.gen(function* () {
    const one = yield* sealed(700)
    const outcome = yield* accepted(one, () => Effect.sync(() => void (one.all.source = "deleted")))
    assert.strictEqual(outcome, "failed")
    assert.deepInclude(one.all.imports[0]!.status, { state: "failed", accepted: 500 })
    assert.match(one.all.imports[0]!.status.failure!, /the source was deleted/)
  }),
)

it.effect("AcceptStaged writes nothing more when another process holds the import", () =>
  Effect.gen(function* () {
    for (const call of ["renew", "finish"] as const) {
      const one = yield* sealed(call === "renew" ? 20_000 : 10)
      one.all.fault = (name) => (name === call ? "lost" : undefined)
      const slow = () => Effect.sleep("3 seconds")
      assert.deepInclude(yield* Effect.flip(accepted(one, slow)), { _tag: "LeaseLost", importId: 1 })
      assert.isBelow(one.all.events.length, 5_000)
      assert.strictEqual(one.all.imports[0]!.status.state, "accepting")
    }
  }),
)

it.effect("AcceptStaged renews its lease when accepting takes long, but not with each slice", () =>
  Effect.gen(function* () {
    const one = yield* sealed(10_000)
    let renewals = 0
    one.all.fault = (name) => {
      if (name === "renew") renewals++
      return undefined
    }
    assert.strictEqual(yield* accepted(one, () => Effect.sleep("3 seconds")), "done")
    assert.isAtLeast(renewals, 4)
    assert.isAtMost(renewals, 6)
  }),
)

it.effect("AcceptStaged ends an import after a fault, reports it, and keeps the rows accepted before", () =>
  Effect.gen(function* () {
    for (const call of ["append", "slice"] as const) {
      const one = yield* sealed(1_100)
      let calls = 0
      let refused = 0
      one.all.fault = (name) => {
        // The database is unavailable when the import should end.
        if (name === "fail") return refused++ < 2 ? "unavailable" : undefined
        return name === call && ++calls === 3 ? "defect" : undefined
      }
      assert.strictEqual(yield* accepted(one), "failed")
      assert.deepInclude(one.all.imports[0]!.status, { state: "failed" })
      assert.match(one.all.imports[0]!.status.failure!, /internal error: Error: a defect in/)
      assert.strictEqual(one.all.events.length, one.all.imports[0]!.status.accepted)
    }
  }).pipe(Effect.provide(silent)),
)

it.effect("AcceptStaged ends an import at an invalid row, names the row, and accepts nothing of its slice", () =>
  Effect.gen(function* () {
    const one = yield* sealed(600)
    one.all.imports[0]!.rows[550] = { n: 550, payload: "{", empty: false, key: null }
    assert.strictEqual(yield* accepted(one), "failed")
    assert.match(one.all.imports[0]!.status.failure!, /row 551 does not parse/)
    assert.lengthOf(one.all.events, 500)
  }).pipe(Effect.provide(silent)),
)

it.effect("AcceptStaged ends an import after a minute without progress", () =>
  Effect.gen(function* () {
    const one = yield* sealed(600)
    // Each lookup returns the source in its old state.
    one.all.sourceVersion = 2
    Object.assign(one.all.sources, { forIntake: () => Effect.succeed(Option.some({ id: 1, version: 1 })) })
    assert.strictEqual(yield* accepted(one), "failed")
    assert.match(one.all.imports[0]!.status.failure!, /not accepted after 60 attempts/)
  }).pipe(Effect.provide(silent)),
)
