import { FeedSignal } from "@data-cabinet/core/feed/FeedSignal"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"

const isOver = <A>(fiber: Fiber.Fiber<A>) => Effect.map(Effect.yieldNow, () => fiber.pollUnsafe() !== undefined)

it.effect("FeedSignal reaches every listener, waiting now or later", () =>
  Effect.gen(function* () {
    const { wake, listen } = yield* FeedSignal
    const [waiting, busy] = [yield* listen, yield* listen]
    const fiber = yield* Effect.forkChild(waiting)
    assert.isFalse(yield* isOver(fiber))
    wake()
    yield* Fiber.join(fiber)
    yield* busy
  }).pipe(Effect.scoped, Effect.provide(FeedSignal.layer)),
)

it.effect("FeedSignal merges signals between two waits", () =>
  Effect.gen(function* () {
    const { wake, listen } = yield* FeedSignal
    const signalled = yield* listen
    wake()
    wake()
    yield* signalled
    const fiber = yield* Effect.forkChild(signalled)
    assert.isFalse(yield* isOver(fiber))
    yield* Fiber.interrupt(fiber)
  }).pipe(Effect.scoped, Effect.provide(FeedSignal.layer)),
)

it.effect("FeedSignal reaches no listener before it listens, or after its scope", () =>
  Effect.gen(function* () {
    const { wake, listen } = yield* FeedSignal
    wake()
    const gone = yield* Effect.scoped(listen)
    const signalled = yield* listen
    const early = yield* Effect.forkChild(signalled)
    assert.isFalse(yield* isOver(early))
    wake()
    const late = yield* Effect.forkChild(gone)
    yield* Fiber.join(early)
    assert.isFalse(yield* isOver(late))
    yield* Fiber.interrupt(late)
  }).pipe(Effect.scoped, Effect.provide(FeedSignal.layer)),
)
