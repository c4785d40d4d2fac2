import { appendEvents, type AcceptRequest, EventLog } from "@data-cabinet/core/event/EventLog"
import { type Json, JsonNumber } from "@data-cabinet/core/json/Json"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { FEED_START, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Layer, ManagedRuntime, Result } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, assert, beforeAll, expect, it, vi } from "vitest"
import { testCabinetLayer, testCabinet } from "../../../../test/support/testCabinet.ts"
import { originalRequest } from "../../../../test/support/originalRequest.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let first: ReturnType<typeof testCabinet>
let second: ReturnType<typeof testCabinet>
beforeAll(() => {
  first = testCabinet(database.url)
  second = testCabinet(database.url)
})
afterAll(async () => {
  await first.dispose()
  await second.dispose()
})

const newSource = (name: string) => first.runPromise(Sources.use((sources) => sources.create({ name })))
const request = (sourceId: number, ...payloads: ReadonlyArray<Record<string, Json>>): AcceptRequest => ({
  sourceId,
  sourceVersion: 1,
  channel: "webhook",
  history: false,
  events: payloads.map((fields) => fingerprintedEvent(new Map(Object.entries(fields)))),
  original: { ...originalRequest("the body"), ip: "203.0.113.9" },
})
const append = (accept: AcceptRequest, runtime = first) =>
  runtime.runPromise(EventLog.use((log) => appendEvents(log, accept)))

it("append commits event, original, row and receipt together", async () => {
  const source = await newSource("Orders")
  const [receipt] = await append(
    request(source.id, { total: new JsonNumber("12345678901234567890.10"), Имя: "Ёж", ok: true, tags: ["a", null] }),
  )
  assert.strictEqual(receipt!.repeatOf, null)
  const [row] = await database.run(
    `SELECT _event_id::text AS id, total::text AS total, imya, ok, tags::text AS tags FROM sources.orders`,
  )
  assert.deepStrictEqual(row, {
    id: String(receipt!.id),
    total: "12345678901234567890.10",
    imya: "Ёж",
    ok: true,
    tags: '["a", null]',
  })
  const [original] = await database.run(
    `SELECT convert_from(o.body, 'UTF8') AS body, o.ip FROM cabinet.original_request o JOIN cabinet.event e
     ON o.id = e.original_request_id AND o.received_at = e.received_at WHERE e.id = ${receipt!.id}`,
  )
  assert.deepStrictEqual(original, { body: "the body", ip: "203.0.113.9" })
})

it("append writes a value that a column cannot take into a sibling of the value's own kind", async () => {
  const source = await newSource("Siblings")
  await append(request(source.id, { amount: new JsonNumber("1.0") }))
  await append(request(source.id, { amount: "about 2" }, { amount: false }, { amount: new JsonNumber("1e131071") }))
  const rows = await database.run(
    `SELECT amount::text AS amount, amount_text, amount_boolean FROM sources.siblings ORDER BY _event_id`,
  )
  assert.deepStrictEqual(rows, [
    { amount: "1.0", amount_text: null, amount_boolean: null },
    { amount: null, amount_text: "about 2", amount_boolean: null },
    { amount: null, amount_text: null, amount_boolean: false },
    { amount: null, amount_text: "1e131071", amount_boolean: null },
  ])
})

it("append records which event created a column", async () => {
  const source = await newSource("Recorded")
  const [firstReceipt] = await append(request(source.id, { a: "1" }))
  const [secondReceipt] = await append(request(source.id, { a: "2", b: true }))
  await append(request(source.id, { a: "3", b: false }))
  assert.deepStrictEqual(
    await database.run(
      `SELECT name, created_by_event_id::int AS event FROM cabinet.field_column WHERE source_id = ${source.id} ORDER BY position`,
    ),
    [
      { name: "a", event: firstReceipt!.id },
      { name: "b", event: secondReceipt!.id },
    ],
  )
})

it("append marks equal bodies as repeats of one first, whichever process accepts them and however many at once", async () => {
  const source = await newSource("Repeats")
  const receipts = (
    await Promise.all(
      Array.from({ length: 64 }, (_, n) =>
        append(request(source.id, { a: "same", b: new JsonNumber("1.0") }), n % 2 ? first : second),
      ),
    )
  ).flat()
  const firsts = receipts.filter((receipt) => receipt.repeatOf === null)
  assert.strictEqual(firsts.length, 1)
  for (const receipt of receipts) {
    if (receipt === firsts[0]) continue
    assert.strictEqual(receipt.repeatOf, firsts[0]!.id)
    assert.isAbove(receipt.id, firsts[0]!.id)
  }
  const [count] = await database.run(`SELECT count(*)::int AS rows FROM sources.repeats`)
  assert.deepStrictEqual(count, { rows: 1 })
})

it("append accepts a body as new five minutes after its first, not after its last repeat", async () => {
  const source = await newSource("Window")
  const shift = (minutes: string) => database.run(`UPDATE cabinet.clock SET shift = interval '${minutes}'`)
  const one = async () => (await append(request(source.id, { same: "body" })))[0]!
  const original = await one()
  await shift("4 minutes")
  assert.strictEqual((await one()).repeatOf, original.id)
  await shift("6 minutes")
  const next = await one()
  assert.strictEqual(next.repeatOf, null)
  assert.strictEqual((await one()).repeatOf, next.id)
  await shift("0")
})

it("append accepts the events of a locked table, and its neighbours do not wait for it", async () => {
  const locked = await newSource("Locked")
  const free = await newSource("Free")
  await append(request(locked.id, { a: "1" }))
  const { PgClient } = await import("@effect/sql-pg")
  const accepted = await second.runPromise(
    PgClient.PgClient.use((sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`LOCK TABLE sources.locked IN ACCESS EXCLUSIVE MODE`
          return yield* Effect.promise(() =>
            Promise.all([append(request(locked.id, { a: "2" })), append(request(free.id, { a: "3" }))]),
          )
        }),
      ),
    ),
  )
  assert.strictEqual(accepted.flat().length, 2)
  assert.deepStrictEqual(await database.run(`SELECT a FROM sources.free`), [{ a: "3" }])
  await append(request(locked.id, { a: "4", late: "column" }))
  await vi.waitFor(
    async () => {
      const rows = await database.run(`SELECT * FROM sources.locked ORDER BY _event_id`)
      assert.deepStrictEqual(
        rows.map((row) => row["a"]),
        ["1", "2", "4"],
      )
    },
    { timeout: 100_000 },
  )
  // Later ones are written at once, as soon as both processes know that no row is left to be written.
  await vi.waitFor(
    async () => {
      await append(request(locked.id, { a: "5" }))
      assert.deepStrictEqual(await database.run(`SELECT FROM cabinet.deferred_row`), [])
    },
    { timeout: 60_000 },
  )
})

/** A source whose rows block until `go`, which holds up its batches. */
const heldUpSource = async (name: string, table: string) => {
  const source = await newSource(name)
  await append(request(source.id, { a: "first" }))
  await database.run(`CREATE TABLE public.go_${table} ()`)
  await database.run(`GRANT SELECT ON public.go_${table} TO PUBLIC`)
  await database.run(`
    CREATE FUNCTION public.until_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN WHILE NOT EXISTS (SELECT FROM public.go_${table}) LOOP PERFORM pg_sleep(0.01); END LOOP; RETURN NEW; END $$`)
  await database.run(
    `CREATE TRIGGER until_go BEFORE INSERT ON sources.${table} FOR EACH ROW EXECUTE FUNCTION public.until_${table}()`,
  )
  /** Ends when this many batches are held up. */
  const held = (count: number) =>
    vi.waitFor(
      async () => {
        const asleep = await database.run(
          `SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
        )
        assert.strictEqual(asleep.length, count)
      },
      { timeout: 100_000, interval: 5 },
    )
  return { id: source.id, held, go: () => database.run(`INSERT INTO public.go_${table} DEFAULT VALUES`) }
}

it("append responds for another source while a batch is held up", async () => {
  const slow = await heldUpSource("Held up", "held_up")
  const free = await newSource("Beside")
  await append(request(free.id, { a: "1" }))
  const order: Array<string> = []
  const held = append(request(slow.id, { a: "2" })).then(() => order.push("held up"))
  await slow.held(1)
  await append(request(free.id, { a: "2" })).then(() => order.push("beside"))
  await slow.go()
  await held
  assert.deepStrictEqual(order, ["beside", "held up"])
})

it("append writes nothing of a request abandoned before its turn", async () => {
  const slow = await heldUpSource("Given up", "given_up")
  const writing: Array<Promise<unknown>> = []
  for (const count of [1, 2]) {
    writing.push(append(request(slow.id, { a: `held ${count}` })))
    await slow.held(count)
  }
  const giveUp = new AbortController()
  const given = first.runPromise(
    EventLog.use((log) => appendEvents(log, request(slow.id, { a: "given up" }))),
    { signal: giveUp.signal },
  )
  const last = append(request(slow.id, { a: "last" }))
  giveUp.abort()
  await given.catch(() => {})
  const past = await first.runPromise(
    EventLog.use((log) => Effect.promise(() => log.append(request(slow.id, { a: "past its deadline" }), 0))),
  )
  assert.deepInclude(Result.isFailure(past) && past.failure, { _tag: "StoreUnavailable", outcomeUnknown: false })
  await slow.go()
  await Promise.all([...writing, last])
  const rows = await database.run(`SELECT a FROM sources.given_up ORDER BY _event_id`)
  assert.deepStrictEqual(
    rows.map(({ a }) => a),
    ["first", "held 1", "held 2", "last"],
  )
})

it("append waits nine seconds, and then reports whether its events may have been saved", async () => {
  const slow = await heldUpSource("Slow", "slow")
  const timed = ManagedRuntime.make(Layer.provideMerge(testCabinetLayer(database.url), TestClock.layer()))
  const told: Array<string> = []
  const refused = (a: string) =>
    timed
      .runPromise(EventLog.use((log) => Effect.flip(appendEvents(log, request(slow.id, { a })))))
      .then((error) => told.push(`${a}: ${error._tag} ${"outcomeUnknown" in error && error.outcomeUnknown}`))
  const asked: Array<Promise<unknown>> = []
  for (const count of [1, 2]) {
    asked.push(refused(`sent ${count}`))
    await slow.held(count)
  }
  asked.push(refused("waiting"))
  await timed.runPromise(TestClock.adjust(8_999))
  assert.deepStrictEqual(told, [])
  await timed.runPromise(TestClock.adjust(501))
  await Promise.all(asked)
  assert.deepStrictEqual(told.sort(), [
    "sent 1: StoreUnavailable true",
    "sent 2: StoreUnavailable true",
    "waiting: StoreUnavailable false",
  ])
  await slow.go()
  await append(request(slow.id, { a: "after" }), timed)
  // The batches of those whose outcome is unknown may end later.
  await expect
    .poll(async () => (await database.run(`SELECT a FROM sources.slow ORDER BY a`)).map(({ a }) => a))
    .toEqual(["after", "first", "sent 1", "sent 2"])
  await timed.dispose()
})

it("append keeps fields in _more if two events exceed the limit only together", async () => {
  const source = await newSource("Wide together")
  const fields = (letter: string) =>
    Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`${letter}${n}`, `${letter} ${n}`]))
  await append(request(source.id, fields("a"), fields("b")))
  const [row] = await database.run(`SELECT a199, b0, _more FROM sources.wide_together WHERE b0 IS NOT NULL`)
  assert.strictEqual(row!["b0"], "b 0")
  const past = Object.entries(fields("b")).slice(100)
  assert.deepStrictEqual(row!["_more"], Object.fromEntries(past))
})

it("append refuses a source that was switched off after it was looked up", async () => {
  const source = await newSource("Off")
  await first.runPromise(Sources.use((sources) => sources.archive(source.id)))
  const error = await first.runPromise(
    EventLog.use((log) => Effect.flip(appendEvents(log, request(source.id, { a: "1" })))),
  )
  assert.strictEqual(error._tag, "SourceChanged")
})

it("FeedStore.page returns every event once, in one order, with the payload's own text", async () => {
  const source = await newSource("Feed")
  for (let n = 0; n < 25; n++) await append(request(source.id, { z: new JsonNumber(`${n}.0`), b: "x" }))
  const seen: Array<string> = []
  let after = FEED_START
  for (let more = true; more;) {
    const page = await second.runPromise(
      FeedStore.use((feed) => feed.page({ after, limit: 7, sourceId: source.id, channel: null })),
    )
    seen.push(...page.items.texts())
    after = page.next
    more = page.hasMore
  }
  assert.strictEqual(seen.length, 25)
  assert.include(seen[3], `"payload":{"z":3.0,"b":"x"},"repeat_of":null,"history":false,"deleted_at":null}`)
  const rest = await second.runPromise(
    FeedStore.use((feed) => feed.page({ after, limit: 7, sourceId: source.id, channel: null })),
  )
  assert.deepStrictEqual([rest.items.length, rest.hasMore, rest.next], [0, false, after])
})
