import { CursorKey } from "@data-cabinet/core/pagination/CursorKey"
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { SearchIndex } from "@data-cabinet/core/row/SearchIndex"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { type ParamPairs, selectionParams } from "@data-cabinet/core/selection/SelectionParams"
import { selectionPlan } from "@data-cabinet/core/selection/SelectionPlan"
import { selectionSql } from "@data-cabinet/core/selection/SelectionSql"
import { Sources } from "@data-cabinet/core/source/Sources"
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber, Option, Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { randomFrom } from "./random.ts"
import { itemsOf, openReading, type Reading, walk } from "./reading.ts"

const key = new CursorKey(Buffer.alloc(32, 7))

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
  // So that an index is used for any number of rows.
  await reading.database.run(`ALTER ROLE "${reading.readerRole}" SET enable_seqscan = off`)
  await reading.database.run(`ALTER ROLE "${reading.readerRole}" SET enable_indexscan = off`)
})
afterAll(() => reading.close())

const index = <A, E>(work: (port: SearchIndex["Service"]) => Effect.Effect<A, E>) =>
  reading.runtime.runPromise(Effect.result(Effect.flatMap(SearchIndex, work)))
const build = (name: string, schema = "public") => index((port) => port.build(schema, name))

const list = (name: string) => index((port) => port.list("public", name))

/** As diagnostics show them. */
const outdated = async () => {
  const examined = await reading.runtime.runPromise(Diagnostics.use((diagnostics) => diagnostics.examine))
  return examined.outdatedSearchIndexes
}

/** The kinds of scan in the plan of a page. */
const scans = (name: string, params: ParamPairs, schema = "public") =>
  reading.runtime.runPromise(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const table = Option.getOrThrow(yield* (yield* Catalog).find(schema, name))
      const plan = Result.getOrThrow(selectionPlan(Result.getOrThrow(selectionParams(params)), table, key))
      const query = selectionSql(plan, "UTC")
      const values = query.values.map(({ text }) => text)
      const rows = yield* sql.unsafe<{ "QUERY PLAN": string }>(`EXPLAIN (COSTS OFF) ${query.text}`, values)
      return rows.map((row) => row["QUERY PLAN"]).join("\n")
    }),
  )

const COLUMNS = `id int PRIMARY KEY, txt text, icu text COLLATE "und-x-icu", vc varchar(30), ch char(6), int8 bigint,
  num numeric, f4 real, f8 double precision, ok boolean, day date, ts timestamp, tz timestamptz, doc json, docb jsonb,
  bytes bytea, tags text[], nums numeric[], days date[], u uuid, ip inet, span interval, range int4range, moment time`

const WORDS = [
  "Ёжик",
  "ёЖ",
  "straße",
  "STRASSE",
  "ΑΣ",
  "ας",
  "100%",
  "a_b",
  "x\\y",
  "O'Brien",
  '"q"',
  "中文字",
  "😀k",
  "İi",
  "",
]

describe("a search index", () => {
  it("is not built with functions that another role could have planted", async () => {
    await reading.run("CREATE TABLE trapped (id int PRIMARY KEY)")
    await reading.asBefore("CREATE SCHEMA cabinet_search")
    const built = await build("trapped")
    expect(built).toMatchObject({ failure: { code: "no_right" } })
    await reading.run("DROP SCHEMA cabinet_search CASCADE")
    expect(await build("trapped")).toMatchObject({ success: { built: true } })
  })

  it("does not change what q finds, for any column types and any text", async () => {
    const random = randomFrom(11)
    const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
    const words = () =>
      Array.from({ length: 1 + random.below(3) }, () => random.pick(WORDS)).join(random.pick(["", " ", "-"]))
    const or = (make: () => string) => (random.chance(0.2) ? "NULL" : make())
    const rows = Array.from({ length: 60 }, (_, id) => {
      const number = () => String(random.pick([0, 1.5, -20, 123456, 0.1]))
      const at = () => random.pick(["2026-03-01 10:20:30.5", "1999-12-31", "infinity", "0044-03-15 00:00:00 BC"])
      const values = [
        ...[0, 1].map(() => or(() => literal(words()))),
        ...[30, 6].map((most) => or(() => literal([...words()].slice(0, most).join("")))),
        or(() => String(random.below(1e9))),
        ...[0, 1, 2].map(() => or(number)),
        or(() => random.pick(["true", "false"])),
        ...[0, 1, 2].map(() => or(() => literal(at()))),
        ...[0, 1].map(() => or(() => literal(JSON.stringify({ a: words(), n: [1, random.below(50)] })))),
        or(() => literal(`\\x${Buffer.from(words()).toString("hex")}`)),
        or(() => `ARRAY[${literal(words())}, NULL, ${literal(words())}]`),
        or(() => `ARRAY[${number()}, ${number()}]::numeric[]`),
        or(() => `ARRAY['2026-01-0${1 + random.below(9)}']::date[]`),
        or(() => literal(`00000000-0000-4000-8000-00000000${1000 + random.below(9000)}`)),
        or(() => literal(`10.0.${random.below(255)}.1`)),
        or(() => literal(`${random.below(40)} days 02:00`)),
        or(() => literal(`[${random.below(9)},${10 + random.below(9)})`)),
        or(() => literal("10:20:30.5")),
      ]
      return `(${[String(id), ...values].join(", ")})`
    })
    await reading.run(`CREATE TABLE indexed (${COLUMNS})`)
    // A customer's own session, which formats dates differently.
    await reading.run(
      `DO $do$ BEGIN SET LOCAL timezone = 'Asia/Tokyo'; SET LOCAL datestyle = 'German'; SET LOCAL intervalstyle = 'iso_8601';
       SET LOCAL extra_float_digits = -3; SET LOCAL bytea_output = 'escape';
       INSERT INTO indexed VALUES ${rows.slice(0, 30).join(", ")}; END $do$`,
    )
    expect(await build("indexed")).toMatchObject({ success: { built: true } })
    await reading.run(
      `DO $do$ BEGIN SET LOCAL timezone = 'Asia/Tokyo'; SET LOCAL datestyle = 'German'; SET LOCAL intervalstyle = 'iso_8601';
       SET LOCAL extra_float_digits = -3; SET LOCAL bytea_output = 'escape';
       INSERT INTO indexed VALUES ${rows.slice(30).join(", ")}; END $do$`,
    )
    await reading.run(`CREATE TABLE unindexed (LIKE indexed INCLUDING INDEXES)`)
    await reading.database.run(
      `DO $$ DECLARE n text; BEGIN FOR n IN SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'public.unindexed'::regclass AND NOT indisprimary LOOP EXECUTE 'DROP INDEX ' || n; END LOOP; END $$`,
    )
    await reading.run(`INSERT INTO unindexed SELECT * FROM indexed`)
    const all = itemsOf(await reading.page("unindexed", [["limit", "1000"]]))
    expect(all.length).toBe(60)
    let hits = 0
    for (let round = 0; round < 120; round++) {
      // A piece of a displayed value of some column and row, in any case.
      const shown = Object.values(random.pick(all)).filter((value) => value !== null)
      const value = random.pick(shown)
      const text = [...(typeof value === "string" ? value : JSON.stringify(value))]
      const from = random.below(text.length)
      const piece = text.slice(from, from + 1 + random.below(6)).join("")
      const q = random.pick([piece, piece.toLowerCase(), piece.toUpperCase(), `${piece}${random.pick(WORDS)}`])
      const params: ParamPairs = [
        ["q", q],
        ["col", "id"],
        ["limit", "1000"],
      ]
      const found = itemsOf(await reading.page("indexed", params))
      expect(found, JSON.stringify(q)).toEqual(itemsOf(await reading.page("unindexed", params)))
      hits += found.length === 0 ? 0 : 1
    }
    expect(hits).toBeGreaterThan(40)
    expect(await scans("indexed", [["q", "nowhere"]])).toContain("cabinet_search.text_")
    expect(await scans("unindexed", [["q", "nowhere"]])).not.toContain("cabinet_search.text_")
  })

  it("finds words of any alphabet among many rows without reading them all, with or without a key", async () => {
    await reading.run(`CREATE TABLE many (id int PRIMARY KEY, note text)`)
    await reading.run(
      `INSERT INTO many SELECT g, CASE WHEN g = 7777 THEN 'Иголка в стоге' ELSE 'Сено сено ' || md5(g::text) END FROM generate_series(1, 20000) g`,
    )
    await reading.run(`CREATE MATERIALIZED VIEW kept AS SELECT * FROM many`)
    for (const name of ["many", "kept"]) {
      expect(await build(name)).toMatchObject({ success: { built: true } })
      const params: ParamPairs = [["q", "иголКА"]]
      expect(await scans(name, params)).toMatch(/Bitmap Index Scan on cabinet_search_/)
      expect(itemsOf(await reading.page(name, params))).toEqual([{ id: 7777, note: "Иголка в стоге" }])
    }
    const some: ParamPairs = [
      ["q", "abc"],
      ["limit", "7"],
    ]
    const expected = await reading.run(`SELECT id FROM many WHERE note LIKE '%abc%' ORDER BY id`)
    const walked = (await walk(reading, "kept", some)).items.map((item) => JSON.parse(item).id)
    expect(walked).toEqual(expected.map((row) => row["id"]))
  })

  it("is not used once a column has been added, and is recreated by the next build", async () => {
    await reading.run(`CREATE TABLE grown (id int PRIMARY KEY, a text)`)
    await reading.run(`INSERT INTO grown VALUES (1, 'first')`)
    const first = Result.getOrThrow(await build("grown"))
    expect(first.built).toBe(true)
    expect(await outdated()).toEqual([])
    expect(await build("grown")).toMatchObject({ success: { index: first.index, built: false } })
    await reading.run(`ALTER TABLE grown ADD b text`)
    expect(await outdated()).toEqual(["public.grown"])
    expect(await list("grown")).toMatchObject({ success: [{ name: first.index, valid: true, complete: false }] })
    await reading.run(`INSERT INTO grown VALUES (2, 'x', 'second')`)
    expect(itemsOf(await reading.page("grown", [["q", "second"]])).map(({ id }) => id)).toEqual([2])
    const second = Result.getOrThrow(await build("grown"))
    expect(second.built).toBe(true)
    const { success } = (await list("grown")) as { readonly success: ReadonlyArray<unknown> }
    expect(success).toEqual([
      { name: second.index, valid: true, complete: true, bytes: expect.any(Number), scans: 0, progress: null },
    ])
    expect(await outdated()).toEqual([])
    const left = await reading.run(
      `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = 'grown'::regclass AND NOT indisprimary`,
    )
    expect(left).toEqual([{ name: second.index }])
    expect(itemsOf(await reading.page("grown", [["q", "second"]])).map(({ id }) => id)).toEqual([2])
    await reading.run(`ALTER TABLE grown DROP a`)
    expect(itemsOf(await reading.page("grown", [["q", "second"]])).map(({ id }) => id)).toEqual([2])
    expect(await index((port) => port.drop("public", "grown"))).toMatchObject({ success: 0 })
    expect(await build("grown")).toMatchObject({ success: { built: true } })
    expect(await index((port) => port.drop("public", "grown"))).toMatchObject({ success: 1 })
    expect(itemsOf(await reading.page("grown", [["q", "second"]])).map(({ id }) => id)).toEqual([2])
  })

  it("follows a source's column to another type", async () => {
    await reading.runtime.runPromise(
      Effect.gen(function* () {
        const source = yield* Sources.use((sources) => sources.create({ name: "Retyped" }))
        const post = (total: string) =>
          EventLog.use((log) =>
            appendEvents(log, {
              sourceId: source.id,
              sourceVersion: 1,
              channel: "webhook",
              history: false,
              events: [{ ...fingerprintedEvent(new Map([["total", total]])), fingerprint: null }],
              original: null,
            }),
          )
        yield* post("2026-03-01T10:00:00+02:00")
        yield* SearchIndex.use((port) => port.build("sources", "retyped"))
        yield* SourceColumns.use((port) => port.retype(source.id, "total", "timestamptz", { withViews: false }))
      }),
    )
    expect(await scans("retyped", [["q", "T08:00"]], "sources")).toContain("cabinet_search.text_")
    expect(itemsOf(await reading.page("retyped", [["q", "t08:00:00z"]], "sources")).length).toBe(1)
    expect(itemsOf(await reading.page("retyped", [["q", "T10:00"]], "sources")).length).toBe(0)
  })

  it("is refused with a message when the object cannot have one", async () => {
    await reading.run(`CREATE TYPE colour AS ENUM ('red')`)
    await reading.run(`CREATE TABLE coloured (id int PRIMARY KEY, c colour)`)
    await reading.run(`CREATE VIEW seen AS SELECT 1 AS one`)
    await reading.run(`CREATE TABLE parted (id int) PARTITION BY LIST (id)`)
    await reading.database.run(`CREATE TABLE public.theirs (id int)`)
    await reading.database.run(`GRANT SELECT ON public.theirs TO "${reading.readerRole}"`)
    const coloured = await build("coloured")
    expect(coloured).toMatchObject({ failure: { code: "not_indexable" } })
    expect(Result.isFailure(coloured) && coloured.failure.message).toContain("c (public.colour)")
    expect(await build("seen")).toMatchObject({ failure: { code: "not_indexable" } })
    expect(await build("parted")).toMatchObject({ failure: { code: "not_indexable" } })
    expect(await build("theirs")).toMatchObject({ failure: { code: "no_right" } })
    expect(await build("nowhere")).toMatchObject({ failure: { code: "no_such_table" } })
  })

  it("leaves nothing behind when its build is aborted", async () => {
    await reading.run(`CREATE TABLE busy (id int PRIMARY KEY, a text)`)
    const indexes = () =>
      reading.run(`SELECT indisvalid AS valid FROM pg_index WHERE indrelid = 'busy'::regclass AND NOT indisprimary`)
    await reading.runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const given = yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql.unsafe(`SET LOCAL ROLE "${reading.authorRole}"`)
            yield* sql.unsafe(`INSERT INTO public.busy VALUES (1, 'a')`)
            // The build uses its own connections, outside this transaction.
            const building = reading.runtime.runFork(SearchIndex.use((port) => port.build("public", "busy")))
            const begun = Effect.promise(indexes).pipe(Effect.repeat({ until: (found) => found.length > 0 }))
            expect(yield* begun).toEqual([{ valid: false }])
            expect(yield* Effect.promise(() => list("busy"))).toMatchObject({
              success: [{ valid: false, complete: false, progress: expect.any(Number) as number }],
            })
            expect(yield* Effect.promise(outdated)).toEqual([])
            return yield* Effect.forkDetach(Fiber.interrupt(building), { startImmediately: true })
          }),
        )
        yield* Fiber.join(given)
      }),
    )
    expect(await indexes()).toEqual([])
  })
})
