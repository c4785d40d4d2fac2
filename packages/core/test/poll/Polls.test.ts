/** The owner's operations on polls, with the store in memory. */
import { AddressCheck } from "@data-cabinet/core/delivery/AddressCheck"
import { maskUrl } from "@data-cabinet/core/network/MaskedUrl"
import { type NewPoll, shownPollUrl, pollShape, pollRunShape, pollTrialShape } from "@data-cabinet/core/poll/Poll"
import { Polls } from "@data-cabinet/core/poll/Polls"
import type { PollStore } from "@data-cabinet/core/poll/PollStore"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { POLL, PollsInMemory, responseOf } from "./PollsInMemory.ts"

const NEW: NewPoll = { sourceId: 1, url: "https://example.com/items", everySeconds: 60 }

type Use<A, E> = (polls: Polls["Service"]) => Effect.Effect<A, E>

const use = <A, E>(all: PollsInMemory, own: Partial<PollStore["Service"]>, work: Use<A, E>) =>
  Polls.use(work).pipe(
    Effect.provide(
      Polls.layer.pipe(Layer.provide([all.running(own), Layer.succeed(AddressCheck, { check: () => Effect.void })])),
    ),
  )

const some = () => Effect.succeed(Option.some(POLL))

it.effect("Polls refuses every call about an unknown poll, and names it", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    const calls: ReadonlyArray<Use<unknown, unknown>> = [
      (polls) => polls.get(7),
      (polls) => polls.change(7, {}),
      (polls) => polls.pause(7),
      (polls) => polls.resume(7),
      (polls) => polls.remove(7),
      (polls) => polls.log(7, 10),
      (polls) => polls.run(7),
      (polls) => polls.tryChange(7, {}),
    ]
    for (const call of calls) {
      const error = yield* Effect.flip(use(all, { claim: () => Effect.succeedNone }, call))
      assert.deepInclude(error, { code: "no_such_poll", message: "Poll 7 does not exist." })
    }
    const noSource = yield* Effect.flip(use(all, {}, (polls) => polls.add(NEW)))
    assert.deepInclude(noSource, { code: "no_such_source", message: "Source 1 does not exist." })
  }),
)

it.effect("Polls finds, adds, pauses, resumes and removes a poll", () =>
  Effect.gen(function* () {
    const own = {
      add: some,
      pause: some,
      resume: some,
      log: () => Effect.succeed(Option.some([])),
      remove: () => Effect.succeed({ existed: true }),
    }
    const done = use(new PollsInMemory(), own, (polls) =>
      Effect.all([polls.get(1), polls.add(NEW), polls.pause(1), polls.resume(1), polls.remove(1), polls.log(1, 10)]),
    )
    assert.deepStrictEqual(yield* done, [POLL, POLL, POLL, POLL, undefined, []])
  }),
)

it.effect("Polls refuses a change when another caller has changed the poll meanwhile", () =>
  Effect.gen(function* () {
    const asked: Array<unknown> = []
    const change: PollStore["Service"]["change"] = (...given) =>
      Effect.sync(() => (asked.push(given), Option.some(POLL)))
    yield* use(new PollsInMemory(), { change }, (polls) => polls.change(1, { everySeconds: 90 }))
    const { url, format, pointer, keyField } = POLL
    assert.deepStrictEqual(asked, [
      [1, url, { url, everySeconds: 90, format, pointer, keyField, headers: null, first: false }],
    ])
    const late = yield* Effect.flip(use(new PollsInMemory(), {}, (polls) => polls.change(1, { everySeconds: 90 })))
    assert.deepInclude(late, { code: "busy" })
    const trial = yield* Effect.flip(use(new PollsInMemory(), {}, (polls) => polls.tryChange(1, {})))
    assert.deepInclude(trial, { code: "busy" })
  }),
)

it.effect("Polls refuses to run a running or removed poll", () =>
  Effect.gen(function* () {
    const own = { claim: () => Effect.succeedNone, log: () => Effect.succeed(Option.some([])) }
    assert.deepInclude(yield* Effect.flip(use(new PollsInMemory(), own, (polls) => polls.run(1))), { code: "busy" })
    const gone = new PollsInMemory()
    gone.isGone = true
    assert.deepInclude(yield* Effect.flip(use(gone, {}, (polls) => polls.run(1))), { code: "no_such_poll" })
    const done = yield* use(new PollsInMemory(), {}, (polls) => polls.run(1))
    assert.deepInclude(done, { outcome: "read", items: 0 })
  }),
)

it.effect("tryAdd requests like a first run, reports what a run would accept, and stores nothing", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    const long = `{"id":3,"text":"${"x".repeat(10_000)}"}`
    const items = ['{"id":1.0,"n":1}', '{"id":null}', long, '{"id":4}', '{"id":5}', '{"id":6}', '{"id":4}']
    const body = `[${items.join()}]`
    all.response = Effect.delay(
      Effect.succeed(responseOf(body, { etag: '"1"', lastModified: "then", contentType: "application/json" })),
      "3 seconds",
    )
    const headers = [["X-Key", "1"]] as const
    yield* TestClock.setTime(1_763_717_400_900)
    // It has no seen items.
    const own = { unseen: () => Effect.die("It was asked.") }
    const trying = use(all, own, (polls) => polls.tryAdd({ ...NEW, keyField: "id", headers }))
    const fiber = yield* Effect.forkChild(trying)
    yield* TestClock.adjust("3 seconds")
    const { preview, ...trial } = yield* Fiber.join(fiber)
    assert.deepStrictEqual(trial, {
      status: 200,
      failure: null,
      peer: "192.0.2.1",
      durationMs: 3_000,
      bytes: body.length,
      beginning: null,
      contentType: "application/json",
      etag: '"1"',
      lastModified: "then",
      format: "json",
      encoding: "utf-8",
      pointer: "",
      keyField: "id",
      items: 7,
      fresh: 6,
      doubts: [],
      history: true,
    })
    assert.deepStrictEqual(preview, [
      { payload: items[0]!, whole: true, key: "1.0", fresh: true },
      { payload: items[1]!, whole: true, key: null, fresh: true },
      { payload: long.slice(0, 10_000), whole: false, key: "3", fresh: true },
      { payload: items[3]!, whole: true, key: "4", fresh: true },
      { payload: items[4]!, whole: true, key: "5", fresh: true },
    ])
    assert.deepStrictEqual(all.requests, [{ url: NEW.url, headers, etag: null, lastModified: null }])
    assert.deepStrictEqual([all.imports, all.results, all.seen.size], [[], [], 0])
  }),
)

it.effect("tryChange sends the poll's headers, and recognizes items seen before", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    all.response = Effect.succeed(responseOf('[{"id":1}]'))
    yield* use(all, {}, (polls) => polls.run(1))
    all.response = Effect.succeed(responseOf('[{"id":1},{"id":2}]'))
    const kept = [["Authorization", "Bearer secret"]] as const
    const own = { headers: () => Effect.succeed(Option.some(kept)) }
    const trial = yield* use(all, own, (polls) => polls.tryChange(1, {}))
    assert.deepInclude(trial, { items: 2, fresh: 1, history: false })
    assert.deepStrictEqual(
      trial.preview.map(({ fresh }) => fresh),
      [false, true],
    )
    assert.deepInclude(all.requests.at(-1)!, { url: POLL.url, headers: kept, etag: null })
    const other = yield* use(all, own, (polls) => polls.tryChange(1, { keyField: null }))
    assert.deepInclude(other, { history: true, keyField: null })
    assert.strictEqual(other.preview[0]!.key, null)
    const given = yield* use(all, {}, (polls) => polls.tryChange(1, { headers: [], pointer: "/none" }))
    assert.deepStrictEqual(all.requests.at(-1)!.headers, [])
    assert.deepInclude(given, { items: 0, fresh: 0, pointer: "/none", format: null })
    const unread = { list: () => Effect.succeed([{ ...POLL, firstAt: null }]), ...own }
    assert.deepInclude(yield* use(all, unread, (polls) => polls.tryChange(1, {})), { history: true })
  }),
)

it.effect("tryChange sends no request when the headers cannot be decrypted", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    const own = { headers: () => Effect.succeed(Option.some(null)) }
    const { failure } = yield* use(all, own, (polls) => polls.tryChange(1, {}))
    assert.include(failure!, "CABINET_SECRET_KEY")
    assert.deepStrictEqual(all.requests, [])
  }),
)

it.effect("tryAdd shows the beginning of an unreadable response, and the reason", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    const page = `<title>Вход</title>${"ж".repeat(5_000)}`
    all.response = Effect.succeed(responseOf(page))
    const trial = yield* use(all, {}, (polls) => polls.tryAdd(NEW))
    assert.strictEqual(trial.beginning, page.slice(0, 1_000))
    assert.deepInclude(trial, { status: 200, items: 0, fresh: 0, format: null, bytes: Buffer.byteLength(page) })
    assert.match(trial.failure!, /HTML or XML/)
    all.response = Effect.succeed(responseOf(null, { status: 500, failure: "the server responded with 500" }))
    const failed = yield* use(all, {}, (polls) => polls.tryAdd(NEW))
    all.response = Effect.succeed(responseOf(null))
    const unchanged = yield* use(all, {}, (polls) => polls.tryAdd(NEW))
    assert.deepInclude(unchanged, { status: 304, failure: null, items: 0, preview: [], beginning: null })
    assert.deepInclude(failed, { status: 500, failure: "the server responded with 500", beginning: null, bytes: 0 })
  }),
)

it.effect("tryAdd ends after half a minute, and refuses another trial meanwhile", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    all.response = Effect.never
    const [trial, other, next] = yield* use(all, {}, (polls) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(polls.tryAdd(NEW), { startImmediately: true })
        yield* TestClock.adjust("29 seconds")
        assert.isUndefined(fiber.pollUnsafe())
        const refused = yield* Effect.flip(polls.tryAdd(NEW))
        yield* TestClock.adjust("1 second")
        const ended = yield* Fiber.join(fiber)
        all.response = Effect.succeed(responseOf("[]"))
        return [ended, refused, yield* polls.tryAdd(NEW)] as const
      }),
    )
    assert.deepInclude(trial, { status: null, failure: "the response was not read within 30 s", durationMs: 30_000 })
    assert.deepInclude(other, { code: "busy" })
    assert.deepInclude(next, { failure: null, status: 200 })
  }),
)

const snakeCased = (from: object) =>
  Object.fromEntries(
    Object.entries(from).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  )

it.effect("polls, runs and trials have all their fields in JSON", () =>
  Effect.gen(function* () {
    const all = new PollsInMemory()
    const run = yield* use(all, {}, (polls) => polls.run(1))
    const trial = yield* use(all, {}, (polls) => polls.tryAdd(NEW))
    assert.deepStrictEqual(pollShape.json(POLL), snakeCased(POLL))
    assert.deepInclude(snakeCased(run), pollRunShape.json(run))
    assert.lengthOf(Object.keys(pollRunShape.json(run)), 14)
    assert.deepStrictEqual(pollTrialShape.json(trial), snakeCased(trial))
  }),
)

it("shownPollUrl shows the query only to roles that may change the poll", () => {
  assert.strictEqual(shownPollUrl(POLL, "owner"), POLL.url)
  for (const role of ["viewer", null] as const) {
    assert.strictEqual(shownPollUrl(POLL, role), maskUrl(POLL.url))
    assert.notInclude(shownPollUrl(POLL, role), "secret")
  }
})
