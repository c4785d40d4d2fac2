import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, type Layer, Logger, Metric, Scope } from "effect"
import { TestClock } from "effect/testing"
import { background } from "../../src/runtime/Background.ts"

/** The log lines so far, as `level message`. */
const collected = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    lines.push(`${logLevel} ${String(Array.isArray(message) ? message[0] : message)}`)
  })
  return { lines, layer: Logger.layer([logger]) as Layer.Layer<never> }
}

it.effect("background runs immediately, then at most the pause after each run, until its scope closes", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    let count = 0
    let interrupted = 0
    const work = Effect.sync(() => ++count).pipe(
      Effect.andThen(Effect.sleep("5 seconds")),
      Effect.onInterrupt(() => Effect.sync(() => void interrupted++)),
    )
    yield* Scope.provide(background("retention", "10 seconds", work), scope)
    yield* TestClock.adjust(0)
    assert.strictEqual(count, 1)
    yield* TestClock.adjust("12900 millis")
    assert.strictEqual(count, 1)
    yield* TestClock.adjust("2100 millis")
    assert.strictEqual(count, 2)
    const log = collected()
    yield* Effect.provide(Scope.close(scope, Exit.void), log.layer)
    assert.strictEqual(interrupted, 1)
    yield* TestClock.adjust("1 hour")
    assert.strictEqual(count, 2)
    assert.deepStrictEqual(log.lines, [])
  }),
)

it.effect("background waits before the first run if configured, and uses the pause that a run returns", () =>
  Effect.gen(function* () {
    let count = 0
    yield* background(
      "poll loop",
      (n: number) => n * 1000,
      Effect.sync(() => ++count),
      { firstAfter: "10 seconds" },
    )
    yield* TestClock.adjust("7900 millis")
    assert.strictEqual(count, 0)
    yield* TestClock.adjust("2100 millis")
    assert.isAtLeast(count, 1)
    const before = count
    yield* TestClock.adjust((before + 1) * 1000 - 1 + before * 1000)
    assert.isAtLeast(count, before + 1)
  }),
)

it.effect(
  "a task that fails, by errors or by faults, is repeated; it logs one line, and one when it works again",
  () => {
    const { lines, layer } = collected()
    return Effect.gen(function* () {
      let outcome: Effect.Effect<void, string> = Effect.fail("away")
      let count = 0
      const work = Effect.suspend(() => (count++, outcome))
      const minute = TestClock.adjust("1 minute")
      yield* background("import sweep", "10 seconds", work)
      yield* minute
      assert.strictEqual(lines.length, 1)
      assert.match(lines[0]!, /^Warn import sweep failed and will be retried/)
      assert.isAtLeast(count, 6)
      // A fault is news.
      outcome = Effect.die(new Error("a defect"))
      yield* minute
      assert.strictEqual(lines.length, 2)
      outcome = Effect.void
      yield* minute
      assert.deepStrictEqual(lines.slice(2), ["Info import sweep works again"])
      // The metrics are the process's: those of other tasks may be there, too.
      const counted = (yield* Metric.snapshot).filter(
        ({ id, attributes }) => id === "background_runs_total" && attributes?.["task"] === "import sweep",
      )
      assert.deepInclude(
        counted.map(({ attributes }) => attributes),
        { task: "import sweep", outcome: "failed" },
      )
    }).pipe(Effect.provide(layer))
  },
)

it.effect("a quiet task logs its errors at debug level only, and its faults always", () => {
  const { lines, layer } = collected()
  return Effect.gen(function* () {
    let outcome: Effect.Effect<void, string> = Effect.fail("away")
    yield* background(
      "standby watch",
      "1 second",
      Effect.suspend(() => outcome),
      { quiet: true },
    )
    yield* TestClock.adjust("1 minute")
    outcome = Effect.die(new Error("a defect"))
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(
      lines.map((line) => line.split(" ")[0]).filter((level) => level !== "Debug"),
      ["Warn"],
    )
  }).pipe(Effect.provide(layer))
})

it.effect("a run whose inner fiber was interrupted does not end the task", () =>
  Effect.gen(function* () {
    let count = 0
    const work = Effect.gen(function* () {
      count++
      const inner = yield* Effect.forkChild(Effect.never)
      yield* Fiber.interrupt(inner)
      yield* Fiber.join(inner)
    })
    yield* background("tenant round", "1 second", work)
    yield* TestClock.adjust("10 seconds")
    assert.isAtLeast(count, 10)
  }),
)
