import { FeedSignal } from "@data-cabinet/core/feed/FeedSignal"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"

const isOver = <A>(fiber: Fiber.Fiber<A>) => Effect.map(Effect.yieldNow, () => fiber.pollUnsafe() !== undefined)

it.effect("a signal reaches every listener, whether it waits already or does so later", () =>
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

it.effect("several signals between two waits are one", () =>
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

it.effect("a listener hears nothing before it listens, nor after its scope has closed", () =>
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
