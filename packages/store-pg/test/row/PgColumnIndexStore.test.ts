import { Intake } from "@data-cabinet/core/intake/Intake"
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { CursorKey } from "@data-cabinet/core/pagination/CursorKey"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { ColumnIndexes } from "@data-cabinet/core/row/ColumnIndexes"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { type ParamPairs, selectionParams } from "@data-cabinet/core/selection/SelectionParams"
import { selectionPlan } from "@data-cabinet/core/selection/SelectionPlan"
import { selectionSql } from "@data-cabinet/core/selection/SelectionSql"
import { Sources } from "@data-cabinet/core/source/Sources"
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber, Option, Result } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { openReading, type Reading, walk } from "./reading.ts"

const key = new CursorKey(Buffer.alloc(32, 7))

let reading: Reading
let sourceId: number
beforeAll(async () => {
  reading = await openReading()
  const { id } = await reading.runtime.runPromise(Sources.use((sources) => sources.create({ name: "Orders" })))
  sourceId = id
  await append({ total: 1, status: "new", paid: true, lines: [1] })
  await reading.run(
    `CREATE TABLE many (id int PRIMARY KEY, total numeric, at timestamptz NOT NULL, status text, u uuid, doc json)`,
  )
  await reading.run(`INSERT INTO many SELECT n, CASE WHEN n % 50 = 0 THEN NULL ELSE n % 997 END,
    '2026-01-01'::timestamptz + n * interval '1 minute', 's' || n % 300, md5(n::text)::uuid, '{}' FROM generate_series(1, 20000) n`)
  await reading.run("ANALYZE many")
})
afterAll(() => reading.close())

const append = (fields: Readonly<Record<string, unknown>>) =>
  reading.runtime.runPromise(Intake.use((intake) => intake.accept(sourceId, fields)))

const indexes = <A, E>(work: (port: ColumnIndexes["Service"]) => Effect.Effect<A, E>) =>
  reading.runtime.runPromise(Effect.result(Effect.flatMap(ColumnIndexes, work)))
const build = (name: string, columns: ReadonlyArray<string>, schema = "public") =>
  indexes((port) => port.build(schema, name, columns))
const listed = (name: string, schema = "public") =>
  reading.runtime.runPromise(ColumnIndexes.use((port) => port.list(schema, name)))

/** The plan of the page's own statement. */
const planned = (name: string, params: ParamPairs) =>
  reading.runtime.runPromise(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const table = Option.getOrThrow(yield* (yield* Catalog).find("public", name))
      const plan = Result.getOrThrow(selectionPlan(Result.getOrThrow(selectionParams(params)), table, key))
      const query = selectionSql(plan, "UTC")
      const values = query.values.map(({ text }) => text)
      const rows = yield* sql.unsafe<{ "QUERY PLAN": string }>(`EXPLAIN (COSTS OFF) ${query.text}`, values)
      return rows.map((row) => row["QUERY PLAN"]).join("\n")
    }),
  )

it("a btree serves sorts in both directions, ranges, equality and later pages of the statement for rows", async () => {
  const built = await build("many", ["total"])
  expect(built).toMatchObject({ success: { columns: ["total", "id"], method: "btree", built: true } })
  const { index } = Result.getOrThrow(built)
  const uses = new RegExp(`Index (Only )?Scan (Backward )?using ${index}|Bitmap Index Scan on ${index}`)
  for (const params of [
    [["sort", "total"]],
    [
      ["sort", "total"],
      ["dir", "desc"],
    ],
    [
      ["fc", "total"],
      ["fo", "eq"],
      ["fv", "17"],
    ],
    [
      ["fc", "total"],
      ["fo", "ge"],
      ["fv", "990"],
    ],
  ] as ReadonlyArray<ParamPairs>) {
    const plan = await planned("many", params)
    expect(plan).toMatch(uses)
    // Few rows equal one value, and sorting them by the key costs nothing.
    if (params[0]![0] === "sort") expect(plan).not.toContain("Sort Key")
  }
  expect(await build("many", ["total"])).toMatchObject({ success: { index, built: false } })
  expect(await build("many", ["total", "id"])).toMatchObject({ success: { index, built: false } })
  expect(await listed("many")).toMatchObject([
    { name: index, columns: ["total", "id"], method: "btree", valid: true, progress: null },
  ])
})

it("several columns serve an equality with the order by the next", async () => {
  const { index } = Result.getOrThrow(await build("many", ["u", "at"]))
  const plan = await planned("many", [
    ["fc", "u"],
    ["fo", "eq"],
    ["fv", "c4ca4238-a0b9-2382-0dcc-509a6f75849b"],
    ["sort", "at"],
  ])
  expect(plan).toContain(index)
})

it("a text column gets a hash index, which serves eq and holds values of any length", async () => {
  const built = await build("many", ["status"])
  expect(built).toMatchObject({ success: { columns: ["status"], method: "hash", built: true } })
  const plan = await planned("many", [
    ["fc", "status"],
    ["fo", "eq"],
    ["fv", "s7"],
  ])
  expect(plan).toContain(Result.getOrThrow(built).index)
  await reading.run(
    `INSERT INTO many SELECT 30000, 1, now(), string_agg(md5(n::text), ''), NULL, NULL FROM generate_series(1, 1000) n`,
  )
  expect(await build("many", ["status", "total"])).toMatchObject({
    failure: { code: "not_indexable", message: expect.stringContaining("can only be indexed alone") },
  })
})

it.each([
  ["many", ["doc"], "not_indexable"],
  ["many", [], "not_indexable"],
  ["many", ["total", "total"], "not_indexable"],
  ["many", ["id", "total", "at", "u"], "not_indexable"],
  ["many", ["nothing"], "no_such_column"],
  ["nothing", ["id"], "no_such_table"],
])("build refuses %s by %j with %s", async (name, columns, code) => {
  expect(await build(name, columns)).toMatchObject({ failure: { code } })
})

it("views and others' tables get no index, and only an index of our own is dropped", async () => {
  await reading.run("CREATE VIEW shown AS SELECT id FROM many")
  expect(await build("shown", ["id"])).toMatchObject({ failure: { code: "not_indexable" } })
  await reading.database.run("CREATE TABLE public.theirs (id int, total int)")
  await reading.database.run(`GRANT SELECT ON public.theirs TO "${reading.readerRole}"`)
  expect(await build("theirs", ["total"])).toMatchObject({ failure: { code: "no_right" } })
  expect(await indexes((port) => port.drop("public", "many", "many_pkey"))).toMatchObject({
    failure: { code: "no_such_index" },
  })
})

it("the remains of an interrupted build are listed until the next build of the same columns replaces them", async () => {
  await reading.run("CREATE TABLE half (id int PRIMARY KEY, n int)")
  await reading.run("INSERT INTO half SELECT g, g FROM generate_series(1, 100) g")
  const { index } = Result.getOrThrow(await build("half", ["n"]))
  // The state that a process leaves when it is killed in the second phase.
  await reading.database.run(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'public.${index}'::regclass`)
  expect(await listed("half")).toMatchObject([{ name: index, valid: false, progress: null }])
  expect(await build("half", ["n"])).toMatchObject({ success: { built: true } })
  expect(await listed("half")).toMatchObject([{ valid: true }])
  const [one] = await listed("half")
  expect(await indexes((port) => port.drop("public", "half", one!.name))).toMatchObject({
    success: { name: one!.name },
  })
  expect(await listed("half")).toEqual([])
})

it("a build that was interrupted while waiting for another session is completed by the next one", async () => {
  await reading.run("CREATE TABLE busy (id int PRIMARY KEY, n int)")
  await reading.runtime.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const holder = yield* sql.reserve
        yield* holder.executeUnprepared("BEGIN", [], undefined)
        yield* holder.executeUnprepared("INSERT INTO public.busy VALUES (1, 1)", [], undefined)
        const building = yield* Effect.forkChild(ColumnIndexes.use((port) => port.build("public", "busy", ["n"])))
        const list = ColumnIndexes.use((port) => port.list("public", "busy"))
        while ((yield* list).length === 0) yield* Effect.yieldNow
        yield* Fiber.interrupt(building)
        yield* holder.executeUnprepared("COMMIT", [], undefined)
      }),
    ),
  )
  expect(await build("busy", ["n"])).toMatchObject({ success: { built: true } })
  expect(await listed("busy")).toMatchObject([{ columns: ["n", "id"], valid: true }])
})

it("no index makes intake refuse an event, whatever the length of its text or the column's former type", async () => {
  for (const column of ["total", "status", "lines"]) {
    expect(await build("orders", [column], "sources")).toMatchObject({ success: { built: true } })
  }
  const long = (salt: string) => Array.from({ length: 2_000 }, (_, n) => `${salt}${n * 7919}`).join(" ")
  await append({ total: 2, status: long("a"), lines: [long("b")], paid: false })
  const changed = await reading.runtime.runPromise(
    SourceColumns.use((columns) => columns.retype(sourceId, "total", "text", { withViews: false })),
  )
  expect(changed.column.type).toBe("text")
  await append({ total: long("c"), status: "new" })
  const kept = await walk(reading, "orders", [], "sources")
  expect(JSON.stringify(kept)).toContain("c7919 ")
  expect((await listed("orders", "sources")).map(({ method }) => method)).toEqual(["hash", "hash"])
})

it("diagnostics names a large table that is often scanned whole, but not one whose scans end early", async () => {
  for (const name of ["read_whole", "read_early"]) {
    await reading.run(`CREATE TABLE ${name} AS SELECT n, n % 7 AS m FROM generate_series(1, 100000) n`)
    await reading.run(`ANALYZE ${name}`)
  }
  await reading.run(`DO $$ DECLARE r record; BEGIN FOR i IN 1..100 LOOP
    PERFORM count(*) FROM read_whole;
    FOR r IN SELECT n FROM read_early LIMIT 10 LOOP END LOOP;
  END LOOP; PERFORM pg_stat_force_next_flush(); END $$`)
  const { tablesReadWhole } = await reading.runtime.runPromise(Diagnostics.use((diagnostics) => diagnostics.examine))
  expect(tablesReadWhole.map(({ name }) => name)).toEqual(["public.read_whole"])
})
