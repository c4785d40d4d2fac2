/**
 * Runs of a poll, with the store in memory: each item becomes an event once, and a response is accepted whole or not at
 * all.
 */
import { RunPoll } from "@data-cabinet/core/poll/RunPoll"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Option } from "effect"
import { TestClock } from "effect/testing"
import { Random, Seed } from "../intake/Random.ts"
import { PollsInMemory, responseOf } from "./PollsInMemory.ts"

const silent = Logger.layer([])

const running = Effect.fnUntraced(function* (all: PollsInMemory, own?: Parameters<PollsInMemory["running"]>[0]) {
  const run = Effect.suspend(() => RunPoll.use(({ run: runOnce }) => runOnce(all.claimed)))
  const fiber = yield* Effect.forkChild(Effect.exit(Effect.provide(run, all.running(own))))
  for (let n = 0; n < 700 && fiber.pollUnsafe() === undefined; n++) {
    yield* TestClock.adjust("1 second")
    yield* Effect.promise(() => new Promise((end) => setImmediate(end)))
  }
  if (fiber.pollUnsafe() === undefined) return assert.fail("It has not ended.")
  return yield* yield* Fiber.join(fiber)
})

const run = Effect.fnUntraced(function* (all: PollsInMemory, body: string) {
  all.response = Effect.succeed(responseOf(body))
  return Option.getOrThrow(yield* running(all))
})

const textsOf = ({ events }: PollsInMemory) => events.map(({ text }) => text)

it.effect("RunPoll accepts the items of a first run as history, and later only new ones", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    const first = yield* run(all, '[{"id":1,"a":1.0},{"id":2}]')
    assert.deepInclude(first, { outcome: "read", status: 200, peer: "192.0.2.1", items: 2, fresh: 2, importId: 1 })
    assert.deepInclude(first, { failure: null, bytes: 27 })
    const same = yield* run(all, '[{"id":2},{"id":1}]')
    assert.deepInclude(same, { outcome: "read", items: 2, fresh: 0, importId: null })
    assert.lengthOf(all.imports, 1)
    const more = yield* run(all, '[{"id":1},{"id":3},{"id":3,"again":true},{"id":2}]')
    assert.deepInclude(more, { outcome: "read", items: 4, fresh: 1, importId: 2 })
    assert.deepStrictEqual(textsOf(all), ['{"id":1,"a":1.0}', '{"id":2}', '{"id":3}'])
    assert.deepStrictEqual(
      all.events.map(({ channel, history }) => [channel, history]),
      [
        ["pull", true],
        ["pull", true],
        ["pull", false],
      ],
    )
    assert.deepInclude(all.imports[0]!.wanted, { pollId: 1, once: false, name: "example.com/items", bytes: 27 })
  }),
)

it.effect.prop(
  "each item becomes an event once, however often it is read and whichever runs fail",
  [Seed],
  ([seed]) =>
    Effect.gen(function* () {
      const random = new Random(seed)
      const all = new PollsInMemory()
      all.claimed = { ...all.claimed, format: "ndjson" }
      const read = new Set<number>()
      for (let n = 0; n < 4; n++) {
        const ids = random.list(900, () => random.below(1_000))
        const lines = ids.map((id) => `{"id":${id},"text":"${"x".repeat(100)}"}`)
        const isBroken = random.below(3) === 0
        if (isBroken) lines.push("broken")
        const { outcome } = yield* run(all, lines.join("\n"))
        assert.strictEqual(outcome, isBroken ? "failed" : "read")
        if (!isBroken) for (const id of ids) read.add(id)
        const found = all.events.map(({ text }) => (JSON.parse(text) as { readonly id: number }).id)
        assert.deepStrictEqual(
          found.toSorted((a, b) => a - b),
          [...read].toSorted((a, b) => a - b),
        )
      }
      for (const { status } of all.imports) assert.include(["done", "failed"], status.state)
    }),
  { arbitrary: { runs: 10 } },
)

it.effect("RunPoll keeps nothing of a response that becomes unreadable after its beginning was staged", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    all.claimed = { ...all.claimed, format: "ndjson", etag: '"1"', failures: 2 }
    const lines = Array.from({ length: 3_000 }, (_, n) => `{"id":${n},"text":"${"x".repeat(100)}"}`)
    const failed = yield* run(all, [...lines, "7"].join("\n"))
    assert.deepInclude(failed, { outcome: "failed", items: 0, fresh: 0, importId: null })
    assert.strictEqual(failed.failure, "not an object, at line 3001, column 1")
    assert.deepInclude(all.imports[0]!.status, { state: "failed" })
    assert.deepStrictEqual([textsOf(all), all.seen.size], [[], 0])
    // It keeps the validators of the previous response; with new ones the server would report no change.
    assert.deepInclude(all.results[0]!, { etag: '"1"', nextSeconds: 480 })
  }),
)

it.effect("RunPoll sends validators with the next request, and keeps them when nothing is new", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    const marks = { etag: '"1"', lastModified: "Sat, 21 Nov 2026 10:00:00 GMT" }
    all.response = Effect.succeed(responseOf("[]", marks))
    yield* running(all)
    assert.deepInclude(all.requests[0]!, { etag: null, lastModified: null })
    assert.deepInclude(all.requests[0]!, { url: all.claimed.url, headers: all.claimed.headers! })
    all.response = Effect.succeed(responseOf(null))
    const unchanged = Option.getOrThrow(yield* running(all))
    assert.deepInclude(all.requests[1]!, marks)
    assert.deepInclude(unchanged, { outcome: "unchanged", status: 304, bytes: 0, fresh: 0, failure: null })
    assert.deepInclude(all.results[1]!, { ...marks, nextSeconds: 60 })
  }),
)

it.effect("RunPoll logs the reason for a failed run, and delays the next one as the server requests", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    const failure = "the server responded with 503"
    all.response = Effect.succeed(responseOf(null, { status: 503, failure, retryAfter: 600 }))
    const failed = Option.getOrThrow(yield* running(all))
    assert.deepInclude(failed, { outcome: "failed", status: 503, failure, peer: "192.0.2.1" })
    all.response = Effect.succeed(responseOf(null, { status: 500, failure }))
    yield* running(all)
    assert.deepStrictEqual(
      all.results.map(({ nextSeconds }) => nextSeconds),
      [600, 240],
    )
    // No run has been saved yet, so the first items are still history.
    yield* run(all, '[{"id":1}]')
    assert.deepInclude(all.events[0]!, { history: true })
    assert.strictEqual(all.results[2]!.nextSeconds, 60)
  }),
)

it.effect("RunPoll sends no request when the headers cannot be decrypted", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    all.claimed = { ...all.claimed, headers: null }
    const failed = Option.getOrThrow(yield* running(all))
    assert.deepInclude(failed, { outcome: "failed", status: null })
    assert.include(failed.failure!, "CABINET_SECRET_KEY")
    assert.deepStrictEqual(all.requests, [])
  }),
)

it.effect("RunPoll keeps nothing when the poll was removed or changed meanwhile", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    all.isGone = true
    all.response = Effect.succeed(responseOf('[{"id":1}]'))
    assert.isTrue(Option.isNone(yield* running(all)))
    assert.deepInclude(all.imports[0]!.status, { state: "failed" })
    const lost = new PollsInMemory()
    lost.fault = (call) => (call === "stage" ? "lost" : undefined)
    lost.response = Effect.succeed(responseOf('[{"id":1}]'))
    assert.isTrue(Option.isNone(yield* running(lost)))
    assert.deepStrictEqual([textsOf(all), textsOf(lost), lost.results], [[], [], []])
    assert.strictEqual(lost.imports[0]!.status.state, "failed")
  }),
)

it.effect("RunPoll records a fault as a failed run, keeps nothing of it, and slows the poll down", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    all.claimed = { ...all.claimed, etag: '"1"', lastModified: "then", failures: 1 }
    all.fault = (call) => (call === "stage" ? "defect" : undefined)
    const failed = yield* run(all, '[{"id":1}]')
    assert.deepInclude(failed, { outcome: "failed", fresh: 0, items: 0, bytes: 0, status: null })
    assert.strictEqual(failed.failure, "internal error: Error: a defect in stage")
    assert.deepInclude(all.results[0]!, { nextSeconds: 240, etag: '"1"', lastModified: "then" })
    assert.strictEqual(all.imports[0]!.status.state, "failed")
    const again = new PollsInMemory()
    again.begin = () => ({ same: all.imports[0]!.status })
    assert.match((yield* run(again, '[{"id":1}]')).failure!, /^internal error/)
  }).pipe(Effect.provide(silent)),
)

it.effect("RunPoll abandons a run when the database becomes unavailable, without a log entry", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    all.fault = (call) => (call === "stage" ? "unavailable" : undefined)
    assert.deepInclude(yield* Effect.flip(run(all, '[{"id":1}]')), { _tag: "StoreUnavailable" })
    assert.strictEqual(all.imports[0]!.status.state, "failed")
    assert.deepStrictEqual(all.results, [])
  }),
)

it.effect("RunPoll logs the duration of a run, and renews its lease meanwhile", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    all.response = Effect.delay(Effect.succeed(responseOf("[]")), "90 seconds")
    yield* TestClock.setTime(1_763_717_400_900)
    let renewals = 0
    const renew = () => Effect.sync(() => ++renewals > 0)
    const { durationMs } = Option.getOrThrow(yield* running(all, { renew }))
    assert.strictEqual(durationMs, 90_000)
    assert.isAtLeast(renewals, 4)
    assert.isAtMost(renewals, 7)
  }),
)

it.effect("RunPoll fails a run after ten minutes", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    all.response = Effect.succeed(responseOf('[{"id":1}]'))
    const failed = Option.getOrThrow(yield* running(all, { unseen: () => Effect.never }))
    assert.deepInclude(failed, { outcome: "failed", durationMs: 600_000 })
    assert.strictEqual(failed.failure, "the response was not read within 10 minutes")
  }),
)

it.effect("RunPoll succeeds when another process accepts the new items", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    const claim = all.claim.bind(all)
    all.claim = () => Option.none()
    const { importId } = yield* run(all, '[{"id":1}]')
    assert.strictEqual(importId, 1)
    assert.strictEqual(all.imports[0]!.status.state, "accepting")
    all.claim = claim
    all.fault = (call) => (call === "finish" ? "lost" : undefined)
    assert.deepInclude(yield* run(all, '[{"id":2}]'), { outcome: "read", fresh: 1 })
  }),
)
