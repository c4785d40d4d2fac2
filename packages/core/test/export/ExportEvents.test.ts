import { exportEvents } from "@data-cabinet/core/export/ExportEvents"
import { Feed, type FeedResult } from "@data-cabinet/core/feed/Feed"
import { FeedError } from "@data-cabinet/core/feed/FeedError"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { itemsOf, readAll } from "./exampleItems.ts"

const gone = new FeedError({ code: "bad_cursor", message: "gone", param: "cursor" })

/** Pages by the cursor before them; `start` for the first. Requests for other cursors are refused. */
const exported = (pages: Readonly<Record<string, FeedResult>>, after?: string, asSent = true) => {
  const asked: Array<unknown> = []
  const feed = Layer.mock(Feed, {
    page: (params) => {
      asked.push(params)
      const page = pages[params.find(([name]) => name === "cursor")?.[1] ?? "start"]
      return page === undefined ? Effect.fail(gone) : Effect.succeed(page)
    },
  })
  return { asked, opened: Effect.provide(exportEvents(after, asSent), feed) }
}

const page = (nextCursor: string, hasMore: boolean, ...texts: ReadonlyArray<string>): FeedResult => ({
  items: itemsOf(...texts),
  hasMore,
  nextCursor,
  cursors: null,
})

it.effect("every event after the cursor is returned once, and the next export begins after the last of them", () =>
  Effect.gen(function* () {
    const pages = {
      start: page("a", true, '{"id":1}', '{"id":2}'),
      // A page may be empty, as when other sources' events are left out.
      a: page("b", true),
      b: page("c", false, '{"id":3}'),
    }
    const { asked, opened } = exported(pages)
    const events = yield* opened
    assert.isFalse(events.isEmpty)
    assert.strictEqual(events.nextCursor(), "")
    const read = yield* Effect.promise(() => readAll(events.batches))
    assert.deepStrictEqual(read, { texts: ['{"id":1}', '{"id":2}', '{"id":3}'] })
    assert.strictEqual(events.nextCursor(), "c")
    assert.deepStrictEqual(events.metadata!(), { "data_cabinet.next_cursor": "c" })
    assert.deepStrictEqual(asked, [
      [["limit", "1000"]],
      [
        ["limit", "1000"],
        ["cursor", "a"],
      ],
      [
        ["limit", "1000"],
        ["cursor", "b"],
      ],
    ])
    const rest = yield* exported(pages, "a").opened
    assert.strictEqual(rest.nextCursor(), "a")
    assert.deepStrictEqual((yield* Effect.promise(() => readAll(rest.batches))).texts, ['{"id":3}'])
  }),
)

it.effect("an interrupted export resumes after the last returned event", () =>
  Effect.gen(function* () {
    const events = yield* exported({ start: page("a", true, '{"id":1}'), a: page("b", true, '{"id":2}') }).opened
    const { texts, ended } = yield* Effect.promise(() => readAll(events.batches))
    assert.deepStrictEqual(texts, ['{"id":1}', '{"id":2}'])
    assert.strictEqual(String(ended), String(gone))
    assert.strictEqual(events.nextCursor(), "b")
    assert.strictEqual(yield* Effect.flip(exported({}, "old").opened), gone)
  }),
)

it.effect("exportEvents reports an empty export, with a cursor to continue", () =>
  Effect.gen(function* () {
    const { opened } = exported({ start: page("a", false) })
    const events = yield* opened
    assert.isTrue(events.isEmpty)
    assert.strictEqual(events.nextCursor(), "a")
    assert.deepStrictEqual(yield* Effect.promise(() => readAll(events.batches)), { texts: [] })
    // More events may follow an empty page.
    assert.isFalse((yield* exported({ start: page("a", true), a: page("b", false) }).opened).isEmpty)
  }),
)

it.effect("exportEvents writes every member in the order of the columns, with the payload as sent", () =>
  Effect.gen(function* () {
    const payload = '"payload":{"n":1.0,"spam":true,"verified":false,"z":"ä, \\"spam\\":true}"}'
    const sent = [
      `{"id":1,${payload}}`,
      `{"id":2,${payload},"verified":true}`,
      `{"id":3,${payload},"spam":true}`,
      `{"id":4,${payload},"verified":false,"spam":true}`,
    ]
    const pages = { start: page("a", false, ...sent) }
    const texts = (asSent: boolean) =>
      Effect.flatMap(exported(pages, undefined, asSent).opened, ({ batches }) => Effect.promise(() => readAll(batches)))
    assert.deepStrictEqual(yield* texts(true), { texts: sent })
    assert.deepStrictEqual(yield* texts(false), {
      texts: [
        `{"id":1,${payload},"verified":null,"spam":false}`,
        `{"id":2,${payload},"verified":true,"spam":false}`,
        `{"id":3,${payload},"verified":null,"spam":true}`,
        `{"id":4,${payload},"verified":false,"spam":true}`,
      ],
    })
    const { columns, declared } = yield* exported(pages).opened
    assert.deepStrictEqual(
      columns.map(({ name }) => name),
      ["id", "source", "channel", "received_at", "payload", "repeat_of", "history", "deleted_at", "verified", "spam"],
    )
    assert.deepStrictEqual(declared, [])
  }),
)
