import { NoticeStore } from "@data-cabinet/core/notice/NoticeStore"
import { SendNotices, noticeRounds } from "@data-cabinet/core/notice/SendNotices"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

it.effect(
  "a round of notices runs each minute in the process that claims it, and not in the others",
  Effect.fn(function* () {
    const claimed = [true, false, true]
    let rounds = 0
    let sent = 0
    const ports = Layer.mergeAll(
      Layer.mock(NoticeStore, { claimRound: Effect.sync(() => claimed[rounds++] ?? false) }),
      Layer.succeed(SendNotices, { send: Effect.sync(() => ++sent) }),
    )
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* Layer.build(Layer.provide(noticeRounds, ports))
        yield* TestClock.adjust("11 seconds")
        assert.deepStrictEqual([rounds, sent], [0, 0])
        yield* TestClock.adjust("4 seconds")
        assert.deepStrictEqual([rounds, sent], [1, 1])
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual([rounds, sent], [2, 1])
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual([rounds, sent], [3, 2])
      }),
    )
    yield* TestClock.adjust("10 minutes")
    assert.strictEqual(rounds, 3)
  }),
)
