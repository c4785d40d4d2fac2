import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { followerLoop, type FollowerKind, type TurnEnd } from "@data-cabinet/core/follower/FollowerLoop"
import { FollowerStore, type HeldFollower } from "@data-cabinet/core/follower/FollowerStore"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger, Option, References } from "effect"
import { TestClock } from "effect/testing"

const HELD: HeldFollower = { id: 1, kind: "count", name: "count", lease: 1 }

/** A store with one follower; `due` is the time until it may be claimed. Records what the loop does. */
const over = (options: {
  readonly due?: () => number | null
  readonly isTaken?: boolean
  readonly turn?: () => Effect.Effect<TurnEnd, StoreUnavailable>
  readonly listen?: FollowerKind<never>["listen"]
  readonly atOnce?: number
}) => {
  const steps: Array<string> = []
  const step = <A>(name: string, value: A) =>
    Effect.sync(() => {
      steps.push(name)
      return value
    })
  const store = FollowerStore.of({
    claim: () => step("claim", options.isTaken === true ? Option.none() : Option.some(HELD)),
    fail: (_, error) => step(`fail: ${error}`, 1),
    release: (_, millis) => step(`release ${millis}`, undefined),
    nextDue: () => Effect.suspend(() => step("due", options.due?.() ?? null)),
    list: Effect.succeed([]),
  })
  const kind: FollowerKind<never> = {
    kind: "count",
    task: "activity count",
    restMillis: 15_000,
    pollMillis: 15_000,
    turn: () => Effect.andThen(step("turn", null), options.turn?.() ?? Effect.succeed<TurnEnd>("end")),
    ...(options.listen === undefined ? {} : { listen: options.listen }),
    ...(options.atOnce === undefined ? {} : { atOnce: options.atOnce }),
  }
  const counted = (name: string) => steps.filter((one) => one === name).length
  return { steps, counted, loop: followerLoop(kind).pipe(Layer.provide(Layer.succeed(FollowerStore, store))) }
}

it.effect("FollowerLoop claims nothing in an idle cabinet, and checks every 15 seconds", () => {
  const { counted, loop } = over({})
  return Effect.gen(function* () {
    yield* Layer.build(loop)
    yield* TestClock.adjust("9 minutes")
    assert.strictEqual(counted("claim"), 0)
    assert.strictEqual(counted("due"), 9 * 4 + 1)
  })
})

it.effect("FollowerLoop works a follower slice by slice to the end of the feed, then releases it", () => {
  const ends: Array<TurnEnd> = ["more", "more", "end"]
  const { steps, loop } = over({
    due: () => (ends.length > 0 ? 0 : null),
    turn: () => Effect.sync(() => ends.shift()!),
  })
  return Effect.gen(function* () {
    yield* Layer.build(loop)
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(steps, ["due", "claim", "turn", "turn", "turn", "release 15000", "due"])
  })
})

it.effect("FollowerLoop neither releases nor fails a follower that another process has claimed", () => {
  const { steps, loop } = over({ due: () => (steps.length < 2 ? 0 : null), turn: () => Effect.succeed("lost") })
  return Effect.gen(function* () {
    yield* Layer.build(loop)
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(steps, ["due", "claim", "turn", "due"])
  })
})

it.effect.each([
  [
    "an error",
    Effect.fail(new StoreUnavailable({ message: "away", retryAfter: 1, outcomeUnknown: false })),
    "away",
    "Debug",
  ],
  ["a fault", Effect.die(new Error("wrong")), "wrong", "Warn"],
] as const)("FollowerLoop delays a follower after %s, and logs it once", ([, turn, error, level]) => {
  const lines: Array<string> = []
  const logger = Logger.layer([
    Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`)),
  ])
  const { steps, loop } = over({ due: () => (steps.length < 2 ? 0 : null), turn: () => turn })
  return Effect.gen(function* () {
    yield* Layer.build(loop)
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(steps, ["due", "claim", "turn", `fail: ${error}`, "due"])
    assert.lengthOf(lines, 1)
    assert.include(lines[0], `${level} follower count count failed and waits`)
  }).pipe(Effect.provide(logger), Effect.provideService(References.MinimumLogLevel, "All"))
})

it.effect("FollowerLoop checks again after a second while another process works", () => {
  const { counted, loop } = over({ due: () => 0, isTaken: true })
  return Effect.gen(function* () {
    yield* Layer.build(loop)
    yield* TestClock.adjust("10 seconds")
    assert.strictEqual(counted("claim"), 11)
  })
})

it.effect("FollowerLoop checks at once after a signal", () => {
  let signalled = Effect.void
  const { counted, loop } = over({
    listen: Effect.succeed(
      Effect.suspend(() => {
        const now = signalled
        signalled = Effect.never
        return now
      }),
    ),
  })
  return Effect.gen(function* () {
    yield* Layer.build(loop)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(counted("due"), 2)
  })
})

it.effect("FollowerLoop serves as many followers at once as their kind says, and goes on when one of them ends", () => {
  let begun = 0
  const { counted, loop } = over({
    due: () => (begun < 4 ? 0 : null),
    // The first never ends.
    turn: () => (begun++ === 0 ? Effect.never : Effect.delay(Effect.succeed<TurnEnd>("again"), "10 seconds")),
    atOnce: 2,
  })
  return Effect.gen(function* () {
    yield* Layer.build(loop)
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual([counted("turn"), counted("due")], [2, 2])
    yield* TestClock.adjust("9 seconds")
    assert.deepStrictEqual([counted("turn"), counted("release 0")], [3, 1])
    yield* TestClock.adjust("10 seconds")
    assert.deepStrictEqual([counted("turn"), counted("release 0")], [4, 2])
  })
})

it.effect("FollowerLoop finds what is due after a follower was served, however long it would have waited", () => {
  let isBusy = false
  let begun = 0
  const { counted, loop } = over({
    // Leased while it is served, and due again afterwards.
    due: () => (isBusy ? 30_000 : begun < 3 ? 0 : null),
    turn: () =>
      Effect.sync(() => {
        begun++
        isBusy = true
      }).pipe(
        Effect.andThen(Effect.sleep("1 second")),
        Effect.andThen(
          Effect.sync((): TurnEnd => {
            isBusy = false
            return "again"
          }),
        ),
      ),
    atOnce: 4,
  })
  return Effect.gen(function* () {
    yield* Layer.build(loop)
    yield* TestClock.adjust("3 seconds")
    assert.deepStrictEqual([counted("turn"), counted("release 0")], [3, 3])
  })
})

it.effect("FollowerLoop searches no more often in a cabinet at rest, however many it serves at once", () => {
  const { counted, loop } = over({ atOnce: 4 })
  return Effect.gen(function* () {
    yield* Layer.build(loop)
    yield* TestClock.adjust("9 minutes")
    assert.strictEqual(counted("due"), 9 * 4 + 1)
  })
})

it.effect("FollowerLoop releases its follower when the process stops", () => {
  const { steps, loop } = over({ due: () => 0, turn: () => Effect.never })
  return Effect.gen(function* () {
    yield* Effect.scoped(Effect.andThen(Layer.build(loop), TestClock.adjust("1 second")))
    assert.deepStrictEqual(steps, ["due", "claim", "turn", "release 0"])
  })
})
