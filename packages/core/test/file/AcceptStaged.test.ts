/** Accepting what an import has staged, whatever happens meanwhile: each row becomes an event once, in its order. */
import { AcceptStaged } from "@data-cabinet/core/file/AcceptStaged"
import { stageBatches } from "@data-cabinet/core/file/StageBatches"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Option } from "effect"
import { TestClock } from "effect/testing"
import { Random, Seed } from "../intake/Random.ts"
import { ImportsInMemory, type StoreCall } from "./ImportsInMemory.ts"

const textOf = (n: number) => `{"n":${n}}`
const textsTo = (count: number) => Array.from({ length: count }, (_, n) => textOf(n))

/** Imports with one that is sealed and claimed. */
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
  all.seal(began.held, { staged: count, refused: 0 })
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

it.effect("every staged row becomes an event as it was staged, in order, and the count is told", () =>
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
    // Each row is read once: the next slice while one is written.
    assert.deepStrictEqual(one.all.slices, [500, 500, 234])
    assert.deepInclude(one.all.imports[0]!, { rows: [], lease: null })
    assert.strictEqual(one.all.imports[0]!.status.state, "done")
  }),
)

it.effect.prop(
  "a database that is away, and commits whose answer is lost, cost no row and repeat none",
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

it.effect("a source that is changed while its import is accepted costs no row", () =>
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

it.effect("an import waits while its source is switched off, and goes on where it was", () =>
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

it.effect("an import of a deleted source ends, and says that not all of it was accepted", () =>
  Effect.gen(function* () {
    const one = yield* sealed(700)
    const outcome = yield* accepted(one, () => Effect.sync(() => void (one.all.source = "deleted")))
    assert.strictEqual(outcome, "failed")
    assert.deepInclude(one.all.imports[0]!.status, { state: "failed", accepted: 500 })
    assert.match(one.all.imports[0]!.status.failure!, /the source was deleted/)
  }),
)

it.effect("whoever lost the import to another process writes nothing more", () =>
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

it.effect("a lease is renewed while accepting takes long, and not by each slice", () =>
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

it.effect("a fault of ours ends the import, which says so, and what was accepted before stays", () =>
  Effect.gen(function* () {
    for (const call of ["append", "slice"] as const) {
      const one = yield* sealed(1_100)
      let calls = 0
      let refused = 0
      one.all.fault = (name) => {
        // The database is away when the import is to end.
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

it.effect("a row that is no JSON ends the import, which names it, before anything of its slice is accepted", () =>
  Effect.gen(function* () {
    const one = yield* sealed(600)
    one.all.imports[0]!.rows[550] = { n: 550, payload: "{", empty: false, key: null }
    assert.strictEqual(yield* accepted(one), "failed")
    assert.match(one.all.imports[0]!.status.failure!, /row 551 does not parse/)
    assert.lengthOf(one.all.events, 500)
  }).pipe(Effect.provide(silent)),
)

it.effect("an import whose rows are never accepted ends after a minute, and does not loop for ever", () =>
  Effect.gen(function* () {
    const one = yield* sealed(600)
    // The source is looked up as it was, each time.
    one.all.sourceVersion = 2
    Object.assign(one.all.sources, { forIntake: () => Effect.succeed(Option.some({ id: 1, version: 1 })) })
    assert.strictEqual(yield* accepted(one), "failed")
    assert.match(one.all.imports[0]!.status.failure!, /not accepted after 60 attempts/)
  }).pipe(Effect.provide(silent)),
)
