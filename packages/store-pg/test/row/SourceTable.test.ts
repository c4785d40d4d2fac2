import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { appendEvents, type AcceptRequest, EventLog } from "@data-cabinet/core/event/EventLog"
import { type Json, JsonNumber } from "@data-cabinet/core/json/Json"
import { MAX_FIELD_COLUMNS } from "@data-cabinet/core/row/RowPlan"
import { Sources } from "@data-cabinet/core/source/Sources"
import { drainDeferredRows } from "@data-cabinet/store-pg/row/DeferredRows"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
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
const post = (sourceId: number, fields: Record<string, Json>, runtime = first) => {
  const request: AcceptRequest = {
    sourceId,
    sourceVersion: 1,
    channel: "webhook",
    history: false,
    events: [{ ...fingerprintedEvent(new Map(Object.entries(fields))), fingerprint: null }],
    original: null,
  }
  return runtime.runPromise(EventLog.use((log) => appendEvents(log, request)))
}
/** A row may wait while its table is locked, here by the other process while it creates a column. */
const rowsFollowed = () =>
  vi.waitFor(
    async () => {
      await first.runPromise(drainDeferredRows)
      const [waiting] = await database.run(`SELECT count(*)::int AS n FROM cabinet.deferred_row`)
      assert.strictEqual(waiting!["n"], 0)
    },
    { timeout: 100_000, interval: 20 },
  )
const columnsOf = async (table: string) =>
  (
    await database.run(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'sources.${table}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    )
  ).map((row) => row["name"])

describe("a source's table", () => {
  it("gets one column when two processes introduce the same field concurrently, and keeps both rows", async () => {
    const source = await newSource("Same field")
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        post(source.id, { [`field ${n % 5}`]: `${n}` }, n % 2 === 0 ? first : second),
      ),
    )
    await rowsFollowed()
    const columns = await columnsOf("same_field")
    assert.sameMembers(columns, ["_event_id", "_received_at", "field_0", "field_1", "field_2", "field_3", "field_4"])
    const [count] = await database.run(
      `SELECT count(*)::int AS rows, count(coalesce(field_0, field_1, field_2, field_3, field_4))::int AS filled FROM sources.same_field`,
    )
    assert.deepStrictEqual(count, { rows: 20, filled: 20 })
  })

  it("stays readable with a sender of random field names, which gets a receipt for every one", async () => {
    const source = await newSource("Hostile")
    for (let n = 0; n < 45; n++) {
      const fields = Object.fromEntries(
        Array.from({ length: 10 }, (_, k) => [`${k % 2 === 0 ? "ключ" : "k"} ${n}-${k} ${"!".repeat(k)}`, `v${n}`]),
      )
      const receipts = await post(source.id, fields, n % 2 === 0 ? first : second)
      assert.strictEqual(receipts.length, 1)
    }
    await rowsFollowed()
    const columns = await columnsOf("hostile")
    assert.strictEqual(columns.length, 2 + MAX_FIELD_COLUMNS + 1)
    const [last] = await database.run(
      `SELECT (SELECT count(*)::int FROM jsonb_object_keys(_more)) AS more FROM sources.hostile ORDER BY _event_id DESC LIMIT 1`,
    )
    assert.deepStrictEqual(last, { more: 10 })
    const [all] = await database.run(
      `SELECT sum((SELECT count(*) FROM jsonb_each_text(to_jsonb(h) - '_event_id' - '_received_at' - '_more') WHERE value IS NOT NULL)
            + coalesce((SELECT count(*) FROM jsonb_object_keys(_more)), 0))::int AS values FROM sources.hostile h`,
    )
    assert.deepStrictEqual(all, { values: 450 })
  })

  it("puts fields that differ only in case or normalise to one name into columns of their own", async () => {
    const source = await newSource("Cases")
    await post(source.id, {
      Total: "1",
      total: "2",
      TOTAL: "3",
      "total!": "4",
      tötal: "5",
      "": "6",
      select: "7",
      ctid: "8",
    })
    const [row] = await database.run(`SELECT * FROM sources.cases`)
    const [, , ...values] = Object.values(row!)
    assert.deepStrictEqual(values, ["1", "2", "3", "4", "5", "6", "7", "8"])
    const labels = await database.run(
      `SELECT field FROM cabinet.field_column WHERE source_id = ${source.id} ORDER BY position`,
    )
    assert.deepStrictEqual(
      labels.map((label) => label["field"]),
      ["Total", "total", "TOTAL", "total!", "tötal", "", "select", "ctid"],
    )
  })

  it("keeps a field whose name has a megabyte, under its full name", async () => {
    const source = await newSource("Long")
    const name = "n".repeat(1_000_000)
    await post(source.id, { [name]: new JsonNumber("1.0"), short: "s" })
    const [row] = await database.run(`SELECT short, _more ->> '${name}' AS value FROM sources.long`)
    assert.deepStrictEqual(row, { short: "s", value: "1.0" })
  })

  it("keeps a customer's view working for any submission, and rewrites no row when a value has another type", async () => {
    const source = await newSource("Viewed rows")
    await post(source.id, { amount: new JsonNumber("5") })
    await database.run(`CREATE VIEW public.amounts AS SELECT sum(amount)::text AS total FROM sources.viewed_rows`)
    const [before] = await database.run(`SELECT pg_relation_filenode('sources.viewed_rows')::int AS node`)
    for (const amount of ["six", true, ["7"], new JsonNumber("1e131071"), new JsonNumber("8.25"), null]) {
      await post(source.id, { amount })
    }
    assert.deepStrictEqual(await database.run(`SELECT total FROM public.amounts`), [{ total: "13.25" }])
    const [after] = await database.run(`SELECT pg_relation_filenode('sources.viewed_rows')::int AS node`)
    assert.deepStrictEqual(after, before)
  })

  it("delays no accept: events are accepted while a change locks the source and its table, and their rows follow", async () => {
    const source = await newSource("Held")
    const other = await newSource("Not held")
    await post(source.id, { n: "1" })
    await post(other.id, { n: "1" })
    // The locks of a retype, for its whole duration.
    await database.run("CREATE TABLE public.held_enough ()")
    const holding = database.run(`DO $$ BEGIN
      PERFORM FROM cabinet.source WHERE id = ${source.id} FOR UPDATE;
      LOCK TABLE sources.held IN ACCESS EXCLUSIVE MODE;
      WHILE NOT EXISTS (SELECT FROM public.held_enough) LOOP PERFORM pg_sleep(0.02); END LOOP;
    END $$`)
    const isHeld = `SELECT FROM pg_locks WHERE relation = 'sources.held'::regclass AND mode = 'AccessExclusiveLock' AND granted`
    await vi.waitFor(async () => assert.lengthOf(await database.run(isHeld), 1), { timeout: 100_000, interval: 20 })
    assert.lengthOf(await post(source.id, { n: "2" }), 1)
    assert.lengthOf(await post(source.id, { n: "3" }, second), 1)
    // The deferred rows of other sources do not wait for it either.
    await first.runPromise(drainDeferredRows)
    assert.lengthOf(await post(other.id, { n: "2" }), 1)
    await database.run("INSERT INTO public.held_enough DEFAULT VALUES")
    await holding
    await rowsFollowed()
    const rows = await database.run("SELECT n::int AS n FROM sources.held ORDER BY _event_id")
    assert.deepStrictEqual(rows, [{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  it("continues without its table after the operator dropped it", async () => {
    const source = await newSource("Dropped")
    await post(source.id, { a: "1" })
    await database.run(`DROP TABLE sources.dropped`)
    const receipts = await post(source.id, { a: "2" })
    assert.strictEqual(receipts.length, 1)
  })

  it("gets rows again once it is back where it was, also those of the time without it", async () => {
    const source = await newSource("Moved")
    await post(source.id, { a: "1" })
    await database.run("CREATE SCHEMA elsewhere")
    await database.run("ALTER TABLE sources.moved SET SCHEMA elsewhere")
    await post(source.id, { a: "2" })
    await rowsFollowed()
    await post(source.id, { a: "3", b: "new" })
    await rowsFollowed()
    const aside = await database.run(
      `SELECT DISTINCT reason, refused, partial FROM cabinet.row_set_aside WHERE source_id = ${source.id}`,
    )
    const reason = "the table sources.moved does not exist: it was dropped, renamed or moved by hand"
    assert.deepStrictEqual(aside, [{ reason, refused: true, partial: false }])
    await database.run("ALTER TABLE elsewhere.moved SET SCHEMA sources")
    await post(source.id, { a: "4" })
    await database.run("UPDATE cabinet.row_set_aside SET retry_at = cabinet.now()")
    // Either process may write them.
    await vi.waitFor(
      async () => {
        await first.runPromise(drainDeferredRows)
        const rows = await database.run("SELECT a FROM sources.moved ORDER BY _event_id")
        assert.deepStrictEqual(
          rows.map(({ a }) => a),
          ["1", "2", "3", "4"],
        )
      },
      { timeout: 100_000, interval: 20 },
    )
  })

  it("gets long deferred rows a few megabytes at a time, and small ones all at once", async () => {
    const source = await newSource("Long rows")
    for (const n of Array(9).keys()) {
      await post(source.id, { n: String(n), long: (n < 3 ? "" : "x").repeat(700_000) })
    }
    await database.run("CREATE TABLE public.inserted (rows int, at int GENERATED ALWAYS AS IDENTITY)")
    await database.run("GRANT ALL ON public.inserted TO PUBLIC")
    await database.run(`CREATE FUNCTION public.inserted() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO public.inserted SELECT count(*) FROM new_rows; RETURN NULL; END $$`)
    await database.run(`CREATE TRIGGER inserted AFTER INSERT ON sources.long_rows REFERENCING NEW TABLE AS new_rows
      FOR EACH STATEMENT EXECUTE FUNCTION public.inserted()`)
    await database.run(`
      WITH gone AS (DELETE FROM sources.long_rows RETURNING _event_id), back AS (
        INSERT INTO cabinet.deferred_row (event_id, source_id) SELECT _event_id, ${source.id} FROM gone)
      UPDATE cabinet.source SET rows_deferred = true WHERE id = ${source.id}`)
    await rowsFollowed()
    const rows = await database.run("SELECT n FROM sources.long_rows ORDER BY _event_id")
    assert.strictEqual(rows.map(({ n }) => n).join(""), "012345678")
    // Three short ones and three of 700 KB add up to two megabytes.
    assert.deepStrictEqual(await database.run("SELECT rows FROM public.inserted ORDER BY at"), [
      { rows: 6 },
      { rows: 3 },
    ])
  })
})
