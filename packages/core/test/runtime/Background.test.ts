import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Latch, type Layer, Logger, Metric, References, Scope } from "effect"
import { TestClock } from "effect/testing"
import { background, BackgroundBegins, type TaskName } from "../../src/runtime/Background.ts"

/** The log lines so far, as `level message`. */
const collected = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    lines.push(`${logLevel} ${String(Array.isArray(message) ? message[0] : message)}`)
  })
  return { lines, layer: Logger.layer([logger]) as Layer.Layer<never> }
}

it.effect("background runs immediately, then again at most the pause after each run, until its scope closes", () =>
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

/** How often runs of the task have ended in this way; the process's metrics may already contain other runs. */
const runsOf = (task: TaskName, outcome: "ok" | "failed") =>
  Effect.map(Metric.snapshot, (all) => {
    const own = all.find(
      ({ id, attributes }) =>
        id === "background_runs_total" && attributes?.["task"] === task && attributes["outcome"] === outcome,
    )
    return own === undefined ? 0 : Number((own.state as { readonly count: number }).count)
  })

it.effect("a failing task is repeated, and logs one line when it starts to fail and one when it works again", () => {
  const { lines, layer } = collected()
  return Effect.gen(function* () {
    let outcome: Effect.Effect<void, string> = Effect.void
    let count = 0
    const work = Effect.suspend(() => (count++, outcome))
    const minute = TestClock.adjust("1 minute")
    yield* background("import sweep", "10 seconds", work)
    yield* minute
    assert.deepStrictEqual(lines, [])
    outcome = Effect.fail("away")
    count = 0
    yield* minute
    assert.strictEqual(lines.length, 1)
    assert.match(lines[0]!, /^Warn import sweep failed and will be retried/)
    assert.isAtLeast(count, 6)
    // A fault is new and logged; the errors after it are not.
    for (const next of [Effect.die(new Error("a defect")), Effect.fail("away"), Effect.die(new Error("a defect"))]) {
      outcome = next
      yield* minute
      assert.strictEqual(lines.length, 2)
    }
    outcome = Effect.void
    yield* minute
    assert.deepStrictEqual(lines.slice(2), ["Info import sweep works again"])
  }).pipe(Effect.provide(layer))
})

it.effect("each run of a task counts as success or failure, and an interrupted run as neither", () =>
  Effect.gen(function* () {
    const before = [yield* runsOf("retention", "ok"), yield* runsOf("retention", "failed")]
    const ends = [Effect.void, Effect.fail("away"), Effect.die("a defect"), Effect.interrupt, Effect.void]
    yield* background(
      "retention",
      "10 seconds",
      Effect.suspend(() => ends.shift() ?? Effect.never),
    )
    yield* TestClock.adjust("1 minute")
    const after = [yield* runsOf("retention", "ok"), yield* runsOf("retention", "failed")]
    assert.deepStrictEqual(
      after.map((count, at) => count - before[at]!),
      [2, 2],
    )
  }),
)

it.effect.each([
  ["the pause for failures", "10 seconds", { retryAfter: "3 seconds" }, 3_000],
  ["its own", "10 seconds", {}, 10_000],
  ["a second, where its own depends on the result", () => "10 seconds", {}, 1_000],
] as const)("a task pauses after a failure: %s", ([, every, options, most]) =>
  Effect.gen(function* () {
    let count = 0
    const failing = Effect.suspend(() => (count++, Effect.fail("away")))
    yield* background("tenant signal", every, failing, options)
    yield* TestClock.adjust(most * 0.8 - 1)
    assert.strictEqual(count, 1)
    yield* TestClock.adjust(most * 0.2 + 1)
    assert.strictEqual(count, 2)
  }),
)

it.effect("a quiet task logs its errors at debug level only, and its faults always", () => {
  const { lines, layer } = collected()
  return Effect.gen(function* () {
    let outcome: Effect.Effect<void, string> = Effect.fail("away")
    const minute = TestClock.adjust("1 minute")
    yield* background(
      "standby watch",
      "1 second",
      Effect.suspend(() => outcome),
      { quiet: true },
    )
    for (const next of [Effect.void, Effect.die(new Error("a defect")), Effect.void]) {
      yield* minute
      outcome = next
    }
    yield* minute
    assert.deepStrictEqual(
      lines.map((line) => line.split(" ")[0]),
      ["Debug", "Debug", "Warn", "Info"],
    )
  }).pipe(Effect.provide(layer), Effect.provideService(References.MinimumLogLevel, "Debug"))
})

it.effect("a run whose inner fiber was interrupted does not end the task, and is not logged as a failure", () => {
  const { lines, layer } = collected()
  return Effect.gen(function* () {
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
    assert.deepStrictEqual(lines, [])
  }).pipe(Effect.provide(layer))
})

it.effect("background waits for BackgroundBegins before its first run", () =>
  Effect.gen(function* () {
    const begins = yield* Latch.make()
    let count = 0
    const work = Effect.sync(() => void count++)
    yield* Effect.provideService(background("retention", "10 seconds", work), BackgroundBegins, begins.await)
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(count, 0)
    yield* begins.open
    yield* TestClock.adjust(0)
    assert.strictEqual(count, 1)
  }),
)
