import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { type NewImport, ImportStore } from "@data-cabinet/core/file/ImportStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Option } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { importCabinet } from "../../../../test/support/importCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let cabinet: ReturnType<typeof importCabinet>
beforeAll(() => {
  cabinet = importCabinet(database.url)
})
afterAll(() => cabinet.close())

const wanted = (sourceId: number): NewImport => ({
  sourceId,
  channel: "file",
  history: true,
  name: "x.csv",
  sha256: Buffer.alloc(32, sourceId),
  bytes: 1,
  once: true,
  pollId: null,
})

/** Ten rows, staged and sealed, in a claimed import. */
const staged = (sourceId: number) =>
  Effect.gen(function* () {
    const imports = yield* ImportStore
    const began = yield* imports.begin(wanted(sourceId))
    if (!("held" in began)) return assert.fail("it was refused")
    const rows = Array.from({ length: 10 }, (_, n) => ({ n, empty: false, key: null, payload: `{"n":${n}}` }))
    yield* imports.stage(began.held, rows)
    yield* imports.seal(began.held, { staged: 10, refused: 0, doubts: [] })
    return Option.getOrThrow(yield* imports.claim(began.held.id))
  })

const slice = (sourceId: number, version: number, importId: number, first: number, last: number) => ({
  sourceId,
  sourceVersion: version,
  channel: "file" as const,
  history: true,
  events: Array.from({ length: last - first }, (_, n) => ({
    ...fingerprintedEvent(new Map([["n", String(first + n)]])),
    fingerprint: null,
  })),
  original: null,
  staged: { importId, first, last },
})

it("EventLog accepts a slice of an import once, however often it is sent", async () => {
  const source = await cabinet.source("slices")
  const outcome = await cabinet.run(
    Effect.gen(function* () {
      const log = yield* EventLog
      const imports = yield* ImportStore
      const claimed = yield* staged(source.id)
      yield* appendEvents(log, slice(source.id, 1, claimed.id, 0, 5))
      const again = yield* Effect.flip(appendEvents(log, slice(source.id, 1, claimed.id, 0, 5)))
      const ahead = yield* Effect.flip(appendEvents(log, slice(source.id, 1, claimed.id, 6, 10)))
      // A refused slice does not hold up the rest of its batch.
      const beside = yield* Effect.all(
        [
          Effect.exit(appendEvents(log, slice(source.id, 1, claimed.id, 0, 5))),
          appendEvents(log, slice(source.id, 1, claimed.id, 5, 10)),
        ],
        { concurrency: 2 },
      )
      return [again._tag, ahead._tag, beside[0]._tag, beside[1].length, yield* imports.renew(claimed)]
    }),
  )
  assert.deepStrictEqual(outcome, ["SourceChanged", "SourceChanged", "Failure", 5, 10])
  const events = await cabinet.feed(source.id)
  assert.deepStrictEqual(
    events.map((event) => event.payload.n),
    Array.from({ length: 10 }, (_, n) => String(n)),
  )
})

it("EventLog does not advance the count for a changed source", async () => {
  const source = await cabinet.source("changed")
  const count = await cabinet.run(
    Effect.gen(function* () {
      const claimed = yield* staged(source.id)
      yield* (yield* Sources).rotateSecret(source.id)
      yield* Effect.flip(appendEvents(yield* EventLog, slice(source.id, 1, claimed.id, 0, 5)))
      return yield* (yield* ImportStore).renew(claimed)
    }),
  )
  assert.strictEqual(count, 0)
})

it("ImportStore gives an import to one holder, and the imports of a source in order", async () => {
  const source = await cabinet.source("order")
  await cabinet.run(
    Effect.gen(function* () {
      const imports = yield* ImportStore
      const first = yield* staged(source.id)
      const began = yield* imports.begin({ ...wanted(source.id), once: false })
      if (!("held" in began)) return assert.fail("it was refused")
      yield* imports.seal(began.held, { staged: 0, refused: 0, doubts: [] })
      assert.isTrue(Option.isNone(yield* imports.claim(first.id)))
      assert.isTrue(Option.isNone(yield* imports.claim(began.held.id)))
      yield* imports.release(first, null)
      const second = Option.getOrThrow(yield* imports.claim(first.id))
      const lost = yield* Effect.flip(imports.renew(first))
      assert.strictEqual(lost._tag, "LeaseLost")
      // Not complete: ten rows are staged and none is accepted.
      assert.strictEqual((yield* Effect.flip(imports.finish(second)))._tag, "LeaseLost")
      yield* imports.fail(second, "enough")
      assert.isTrue(Option.isSome(yield* imports.claim(began.held.id)))
    }),
  )
})

it("ImportStore cancels the import of a poll, and its items that are not events count as new again", async () => {
  const source = await cabinet.source("polled")
  const [poll] = await database.run(
    `INSERT INTO cabinet.poll (source_id, url, every_seconds) VALUES (${source.id}, 'http://127.0.0.1:9/', 60) RETURNING id::int AS id`,
  )
  const pollId = Number(poll!["id"])
  const seen = () =>
    database.run(`SELECT encode(key, 'escape') AS key FROM cabinet.poll_seen WHERE poll_id = ${pollId} ORDER BY 1`)
  await cabinet.run(
    Effect.gen(function* () {
      const imports = yield* ImportStore
      const log = yield* EventLog
      const began = yield* imports.begin({
        ...wanted(source.id),
        channel: "pull",
        once: false,
        pollId,
      })
      if (!("held" in began)) return assert.fail("it was refused")
      const rows = Array.from({ length: 4 }, (_, n) => ({
        n,
        empty: false,
        key: Buffer.from(`k${n}`),
        payload: `{"n":${n}}`,
      }))
      yield* imports.stage(began.held, rows)
      yield* imports.seal(began.held, { staged: 4, refused: 0, doubts: [] })
      const { id } = began.held
      yield* Effect.promise(() =>
        database.run(
          `INSERT INTO cabinet.poll_seen SELECT ${pollId}, key FROM cabinet.staged_row WHERE import_id = ${id}`,
        ),
      )
      const claimed = Option.getOrThrow(yield* imports.claim(id))
      yield* appendEvents(log, { ...slice(source.id, 1, id, 0, 2), channel: "pull" })
      assert.strictEqual(yield* imports.cancel(id), "cancelled")
      assert.deepStrictEqual(yield* Effect.promise(seen), [{ key: "k0" }, { key: "k1" }])
      assert.deepInclude(Option.getOrThrow(yield* imports.status(id)), { state: "failed", accepted: 2 })
      // Its holder accepts nothing more, and a second cancel changes nothing.
      assert.strictEqual((yield* Effect.flip(imports.renew(claimed)))._tag, "LeaseLost")
      assert.strictEqual(yield* imports.cancel(id), "cancelled")
    }),
  )
})

it("ImportStore refuses the same file until its import has failed", async () => {
  const source = await cabinet.source("same")
  await cabinet.run(
    Effect.gen(function* () {
      const imports = yield* ImportStore
      const first = yield* staged(source.id)
      const second = yield* imports.begin(wanted(source.id))
      assert.isTrue("same" in second && second.same.id === first.id)
      yield* imports.fail(first, "enough")
      assert.isTrue("held" in (yield* imports.begin(wanted(source.id))))
    }),
  )
})
