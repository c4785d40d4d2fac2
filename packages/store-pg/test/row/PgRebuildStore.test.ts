import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { Trash } from "@data-cabinet/core/event/Trash"
import { FollowerStore } from "@data-cabinet/core/follower/FollowerStore"
import { runFollower } from "@data-cabinet/core/follower/FollowerLoop"
import { type Json, JsonNumber } from "@data-cabinet/core/json/Json"
import type { RebuildProgress } from "@data-cabinet/core/row/RebuildState"
import type { RebuildWishes } from "@data-cabinet/core/row/RebuildStore"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { TableRebuild, rebuildFollower } from "@data-cabinet/core/row/TableRebuild"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Fiber } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { ownerRole } from "../../../../test/support/postgresAdmin.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const database = withDatabase()
let store: ReturnType<typeof testCabinet>
let other: ReturnType<typeof testCabinet>
beforeAll(() => {
  store = testCabinet(database.url)
  other = testCabinet(database.url)
})
afterAll(async () => {
  await other.dispose()
  await store.dispose()
})

const number = (token: string) => new JsonNumber(token)

const newSource = async (name: string) => (await store.runPromise(Sources.use((all) => all.create({ name })))).id

const post = async (sourceId: number, ...all: ReadonlyArray<Record<string, Json>>) => {
  const [row] = await database.run(`SELECT version FROM cabinet.source WHERE id = ${sourceId}`)
  const receipts = await store.runPromise(
    EventLog.use((log) =>
      appendEvents(log, {
        sourceId,
        sourceVersion: Number(row!["version"]),
        channel: "webhook",
        history: false,
        events: all.map((fields) => ({ ...fingerprintedEvent(new Map(Object.entries(fields))), fingerprint: null })),
        original: null,
      }),
    ),
  )
  return receipts.map(({ id }) => id)
}

const PLAIN: RebuildWishes = { columns: [], withoutEmpty: false, nestBrackets: false }

type Report = (progress: RebuildProgress) => Effect.Effect<void>

const rebuild = (sourceId: number, wishes: Partial<RebuildWishes> = {}, report?: Report) =>
  store.runPromise(TableRebuild.use((all) => all.run(sourceId, { ...PLAIN, ...wishes }, report)))
const refusal = (sourceId: number, wishes: Partial<RebuildWishes> = {}, report?: Report) =>
  store.runPromise(Effect.flip(TableRebuild.use((all) => all.run(sourceId, { ...PLAIN, ...wishes }, report))))
const plan = (sourceId: number, wishes: Partial<RebuildWishes> = {}) =>
  store.runPromise(TableRebuild.use((all) => all.plan(sourceId, { ...PLAIN, ...wishes })))
const retype = (sourceId: number, column: string, type: "numeric" | "text", notation = {}) =>
  store.runPromise(SourceColumns.use((all) => all.retype(sourceId, column, type, { withViews: false, notation })))

const stateOf = (sourceId: number) => store.runPromise(TableRebuild.use((all) => all.state(sourceId)))

const rowsOf = async (table: string) => {
  const rows = await database.run(`SELECT row_to_json(t)::text AS row FROM sources.${table} t ORDER BY _event_id`)
  return rows.map(({ row }) => String(row).replace(/"_received_at":"[^"]*",?/, ""))
}
const cellsOf = async (table: string) =>
  (
    await database.run(
      `SELECT (to_jsonb(t) - '_received_at' - '_event_id')::text AS row FROM sources.${table} t ORDER BY _event_id`,
    )
  ).map(({ row }) => JSON.parse(String(row)) as unknown)

/** What a rebuild must leave nowhere. */
const remains = () =>
  database.run(`
    SELECT relname::text AS name FROM pg_class WHERE relname LIKE 'rebuild\\_%'
    UNION ALL SELECT tgname::text FROM pg_trigger WHERE tgname LIKE 'cabinet\\_rebuild%'
    UNION ALL SELECT name FROM cabinet.follower WHERE kind = 'rebuild'
    UNION ALL SELECT event_id::text FROM cabinet.table_rebuild_change`)

/** Runs once, while the rebuild is at this step. */
const once = (step: RebuildProgress["step"], act: () => Promise<unknown>): Report => {
  let isDone = false
  return (progress) =>
    Effect.promise(async () => {
      if (isDone || progress.step !== step) return
      isDone = true
      await act()
    })
}

it("run makes the same table again, cell for cell, with its columns, labels, comments and later siblings", async () => {
  const source = await newSource("Same")
  await post(source, { amount: number("1.50"), Имя: "Ж", nested: new Map([["a", [number("1e2"), null]]]), ok: true })
  await post(source, { amount: "about 2", select: null, "a b": "" }, { _more: "x", "A B": "y", amount: number("3") })
  await store.runPromise(SourceColumns.use((all) => all.relabel(source, "amount", "Sum")))
  await database.run("COMMENT ON TABLE sources.same IS 'orders'")
  await database.run("COMMENT ON COLUMN sources.same.amount IS 'net'")
  const before = [await rowsOf("same"), await store.runPromise(SourceColumns.use((all) => all.list(source)))]
  const done = await rebuild(source)
  expect(done).toMatchObject({ table: "sources.same", rows: 3, indexesMissing: [] })
  expect([await rowsOf("same"), await store.runPromise(SourceColumns.use((all) => all.list(source)))]).toEqual(before)
  expect(
    await database.run(
      "SELECT obj_description('sources.same'::regclass) AS t, col_description('sources.same'::regclass, 3) AS c",
    ),
  ).toEqual([{ t: "orders", c: "net" }])
  await post(source, { amount: "n/a", fresh: "1" })
  expect((await cellsOf("same")).at(-1)).toMatchObject({ amount: null, amount_text: "n/a", fresh: "1" })
  expect(await remains()).toEqual([])
})

it("run gives columns other types, names and places, and leaves out columns without a value", async () => {
  const source = await newSource("Changed")
  const [junk] = await post(source, { junk: "x", total: "12.50" })
  await post(source, { total: "about 3", note: "n" }, { total: "7", note: "m" })
  await store.runPromise(Trash.use((all) => all.trash(source, [junk!])))
  const wishes = {
    columns: [
      { column: "note", name: "remark" },
      { column: "total", type: "numeric" as const, name: "amount" },
    ],
    withoutEmpty: true,
  }
  expect(await plan(source, wishes)).toMatchObject({ dropped: ["junk"], inTheWay: [], rows: 2 })
  expect((await rebuild(source, wishes)).columns).toEqual(["remark", "amount", "amount_text"])
  expect(await cellsOf("changed")).toEqual([
    { remark: "n", amount: null, amount_text: "about 3" },
    { remark: "m", amount: 7, amount_text: null },
  ])
  await post(source, { total: "1.5", junk: "y" })
  await store.runPromise(Trash.use((all) => all.untrash(source, [junk!])))
  await expect
    .poll(() => cellsOf("changed"))
    .toEqual([
      { remark: null, amount: 12.5, amount_text: null, junk: "x" },
      { remark: "n", amount: null, amount_text: "about 3", junk: null },
      { remark: "m", amount: 7, amount_text: null, junk: null },
      { remark: null, amount: 1.5, amount_text: null, junk: "y" },
    ])
})

it("run nests brackets of fields that were sent before the source had the setting", async () => {
  const source = await newSource("Nested")
  await post(source, { "leads[add][0][name]": "Ada", "leads[add][0][id]": "7", plain: "1" })
  await rebuild(source, { nestBrackets: true, withoutEmpty: true })
  expect((await cellsOf("nested"))[0]).toMatchObject({ plain: "1", leads: { add: { 0: { name: "Ada", id: "7" } } } })
})

it("run moves the values of a retyped column as they are, unless its type is requested again", async () => {
  const source = await newSource("Retyped")
  await post(source, { price: "1.234,50" }, { price: "soon" })
  await retype(source, "price", "numeric", { numbers: "comma" })
  const before = await cellsOf("retyped")
  expect(before).toEqual([
    { price: 1234.5, price_text: null },
    { price: null, price_text: "soon" },
  ])
  await rebuild(source)
  expect(await cellsOf("retyped")).toEqual(before)
  await post(source, { price: "9.5" })
  await rebuild(source, { columns: [{ column: "price", type: "numeric" }] })
  expect(await cellsOf("retyped")).toEqual([
    { price: null, price_text: "1.234,50" },
    { price: null, price_text: "soon" },
    { price: 9.5, price_text: null },
  ])
})

it("run follows what is accepted, trashed, restored, erased and changed by hand meanwhile", async () => {
  const source = await newSource("Busy")
  const ids = await post(source, ...Array.from({ length: 6 }, (_, n) => ({ n: number(String(n)), x: `v${n}` })))
  await store.runPromise(Trash.use((all) => all.trash(source, [ids[0]!])))
  const meanwhile = async () => {
    await post(source, { n: number("10"), later: "new column" })
    await store.runPromise(Trash.use((all) => all.untrash(source, [ids[0]!])))
    await store.runPromise(Trash.use((all) => all.trash(source, [ids[1]!])))
    await store.runPromise(Trash.use((all) => all.purge([ids[2]!])))
    await database.run(`DELETE FROM sources.busy WHERE _event_id = ${ids[3]}`)
    await database.run(`UPDATE sources.busy SET x = 'by hand' WHERE _event_id = ${ids[4]}`)
  }
  await rebuild(source, {}, once("indexes", meanwhile).bind(null))
  await rebuild(
    source,
    {},
    once("changes", () => post(source, { n: number("11") })),
  )
  await rebuild(
    source,
    {},
    once("swap", () => post(source, { n: number("12") })),
  )
  // Restored rows may follow a little later, and those of the source behind them.
  await expect
    .poll(async () => (await cellsOf("busy")).map((row) => (row as { n: number }).n))
    .toEqual([0, 4, 5, 10, 11, 12])
  expect((await cellsOf("busy"))[1]).toEqual({ n: 4, x: "v4", later: null })
  expect(await remains()).toEqual([])
})

it("run makes no row of spam, and one of what turns out to be none meanwhile", async () => {
  const source = await newSource("Junk")
  const [first, stays, none] = await post(source, { n: number("1") }, { n: number("2") }, { n: number("3") })
  await database.run(`UPDATE cabinet.event SET spam = 'honeypot' WHERE id IN (${stays}, ${none})`)
  await database.run(`DELETE FROM sources.junk WHERE _event_id IN (${stays}, ${none})`)
  const takeOut = () => store.runPromise(Trash.use((all) => all.untrash(source, [none!])))
  expect(await rebuild(source, {}, once("indexes", takeOut))).toMatchObject({ table: "sources.junk" })
  const rows = await database.run("SELECT _event_id::int AS id, n::int AS n FROM sources.junk ORDER BY 1")
  expect(rows).toEqual([
    { id: first, n: 1 },
    { id: none, n: 3 },
  ])
})

it("run of a process that stalled ends without a trace once another has taken its lease", async () => {
  const source = await newSource("Stalled")
  await post(source, { n: number("1") })
  const before = await rowsOf("stalled")
  const tidy = FollowerStore.use((followers) => runFollower(followers, rebuildFollower))
  for (const step of ["rows", "indexes", "changes", "swap"] as const) {
    const lose = async () => {
      await database.run("UPDATE cabinet.follower SET leased_until = cabinet.now() WHERE kind = 'rebuild'")
      await other.runPromise(tidy)
    }
    expect(await refusal(source, {}, once(step, lose))).toMatchObject({ code: "rebuild_ended" })
    expect(await remains()).toEqual([])
    expect(await rowsOf("stalled")).toEqual(before)
  }
})

it("run moves rows without an event as they are, and refuses to give them other types", async () => {
  const source = await newSource("Orphans")
  await post(source, { n: "1" })
  await database.run("INSERT INTO sources.orphans (_event_id, _received_at, n) VALUES (-5, '2020-01-01Z', 'by hand')")
  await rebuild(source)
  expect(await cellsOf("orphans")).toEqual([{ n: "by hand" }, { n: "1" }])
  expect((await plan(source, { columns: [{ column: "n", type: "numeric" }] })).rowsWithoutEvent).toBe(1)
  const refused = await refusal(source, { columns: [{ column: "n", type: "numeric" }] })
  expect(refused).toMatchObject({ code: "rows_without_event", message: expect.stringContaining("1 row has no event") })
  expect(await cellsOf("orphans")).toEqual([{ n: "by hand" }, { n: "1" }])
})

it("run recreates views, privileges, options and indexes, and keeps lists of tokens", async () => {
  const source = await newSource("Dependents")
  await post(source, { n: number("1"), label: "a" })
  for (const statement of [
    "CREATE ROLE rebuild_reader",
    "GRANT SELECT ON sources.dependents TO rebuild_reader",
    "GRANT REFERENCES (label) ON sources.dependents TO rebuild_reader WITH GRANT OPTION",
    `CREATE INDEX by_label ON sources.dependents (upper(label)) WHERE n > 0`,
    "CREATE UNIQUE INDEX one_n ON sources.dependents (n)",
    "ALTER TABLE sources.dependents SET (fillfactor = 70)",
    "CREATE VIEW public.labels AS SELECT label FROM sources.dependents WHERE n = 1",
    `ALTER VIEW public.labels OWNER TO ${ownerRole}`,
    "GRANT SELECT ON public.labels TO rebuild_reader",
    `INSERT INTO cabinet.access_token (name, prefix, fingerprint, role, only_sources, only_objects, only_in)
     SELECT 'x', 'x', 'x', 'reader', '{1}', ARRAY['sources.dependents'::regclass::oid], cabinet.place()`,
  ])
    await database.run(statement)
  const described = () =>
    database.run(`SELECT c.relacl::text AS acl, c.reloptions::text AS options, (SELECT a.attacl::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'label') AS label,
      (SELECT json_agg(pg_get_indexdef(i.indexrelid) ORDER BY 1)::text FROM pg_index i WHERE i.indrelid = c.oid) AS indexes,
      (SELECT relacl::text FROM pg_class WHERE oid = 'public.labels'::regclass) AS view,
      (SELECT only_objects = ARRAY[c.oid] FROM cabinet.access_token WHERE name = 'x') AS listed
      FROM pg_class c WHERE c.oid = 'sources.dependents'::regclass`)
  const before = await described()
  expect(await plan(source)).toMatchObject({ views: ["public.labels"], indexes: ["by_label", "one_n"], inTheWay: [] })
  await rebuild(source)
  expect(await described()).toEqual(before)
  expect(await database.run("SELECT * FROM public.labels")).toEqual([{ label: "a" }])
  const renamed = await refusal(source, { columns: [{ column: "label", name: "title" }] })
  expect(renamed).toMatchObject({
    code: "objects_depend",
    message: expect.stringMatching(/view public.labels.*index by_label/),
  })
  expect(await remains()).toEqual([])
})

it.each([
  [
    "a trigger",
    "CREATE TRIGGER t BEFORE INSERT ON sources.TABLE FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "trigger t",
  ],
  ["a constraint", "ALTER TABLE sources.TABLE ADD CONSTRAINT positive CHECK (n > 0)", "constraint positive"],
  ["a column by hand", "ALTER TABLE sources.TABLE ADD COLUMN mine int", "column mine was added by hand"],
  ["a changed column", "ALTER TABLE sources.TABLE ALTER COLUMN n SET DEFAULT 1", "default value"],
  ["row security", "ALTER TABLE sources.TABLE ENABLE ROW LEVEL SECURITY", "row-level security"],
  ["a foreign key", "CREATE TABLE public.more_TABLE (of bigint REFERENCES sources.TABLE)", "constraint more_"],
  [
    "a materialized view",
    "CREATE MATERIALIZED VIEW public.filled_TABLE AS SELECT * FROM sources.TABLE",
    "materialized view",
  ],
  ["another writer", "GRANT DELETE ON sources.TABLE TO PUBLIC", "every role may write"],
  ["a view of another role", "CREATE VIEW public.theirs_TABLE AS SELECT n FROM sources.TABLE", "belongs to postgres"],
  [
    "a use of its rows",
    "CREATE FUNCTION public.of_TABLE(sources.TABLE) RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "function public.of_",
  ],
  ["statistics", "CREATE STATISTICS public.s_TABLE ON n, _received_at FROM sources.TABLE", "statistics object"],
])("run refuses %s, which the new table would lack", async (name, statement, words) => {
  const source = await newSource(`Way ${name}`)
  await post(source, { n: number("1") })
  const [row] = await database.run(`SELECT table_name AS table FROM cabinet.source WHERE id = ${source}`)
  await database.run(
    statement.replaceAll("TABLE", (text, at: number) =>
      statement[at - 1] === "." || statement[at - 1] === "_" ? String(row!["table"]) : text,
    ),
  )
  expect((await plan(source)).inTheWay.join()).toContain(words)
  expect(await refusal(source)).toMatchObject({ code: "objects_depend" })
  expect(await remains()).toEqual([])
})

it("run refuses a second run, and ends when it is cancelled, when its columns change or the table is emptied", async () => {
  const source = await newSource("Twice")
  await post(source, { n: number("1") }, { n: number("2") })
  const before = await rowsOf("twice")
  const second: Array<unknown> = []
  await rebuild(
    source,
    {},
    once("indexes", async () => {
      expect((await plan(source)).inTheWay).toEqual([])
      second.push(await other.runPromise(Effect.flip(TableRebuild.use((all) => all.run(source, PLAIN)))))
    }),
  ).catch(() => {})
  const cancelled = await refusal(
    source,
    {},
    once("changes", () => other.runPromise(TableRebuild.use((all) => all.cancel(source)))),
  )
  expect(cancelled).toMatchObject({ code: "rebuild_ended", message: expect.stringContaining("cancelled") })
  const retyped = await refusal(
    source,
    {},
    once("changes", () => retype(source, "n", "text")),
  )
  expect(retyped).toMatchObject({ code: "rebuild_ended", message: expect.stringContaining("columns were changed") })
  await retype(source, "n", "numeric")
  expect(await rowsOf("twice")).toEqual(before)
  const emptied = await refusal(
    source,
    {},
    once("swap", () => database.run("TRUNCATE sources.twice")),
  )
  expect(emptied).toMatchObject({ code: "rebuild_ended", message: expect.stringContaining("emptied") })
  expect(second).toMatchObject([{ code: "rebuild_running" }])
  expect(await remains()).toEqual([])
})

it("run leaves nothing behind when it is interrupted, and another process removes what a lost one has left", async () => {
  const source = await newSource("Lost")
  await post(source, { n: number("1") })
  const before = await rowsOf("lost")
  for (const step of ["plan", "rows", "indexes", "changes", "swap"] as const) {
    const reached = Promise.withResolvers<void>()
    const stop: Report = (progress) =>
      progress.step === step ? Effect.andThen(Effect.sync(reached.resolve), Effect.never) : Effect.void
    const fiber = store.runFork(TableRebuild.use((all) => all.run(source, PLAIN, stop)))
    await reached.promise
    await Effect.runPromise(Fiber.interrupt(fiber))
    expect(await remains()).toEqual([])
    expect(await stateOf(source)).toMatchObject({ state: "failed", step, message: expect.stringContaining("stopped") })
  }
  const reached = Promise.withResolvers<void>()
  const held = store.runFork(
    TableRebuild.use((all) => all.run(source, PLAIN, () => Effect.andThen(Effect.sync(reached.resolve), Effect.never))),
  )
  await reached.promise
  await post(source, { n: number("2") })
  const tidy = FollowerStore.use((followers) => runFollower(followers, rebuildFollower))
  await other.runPromise(tidy)
  expect((await remains()).length).toBeGreaterThan(0)
  expect(await stateOf(source)).toMatchObject({ state: "running", code: null })
  await database.run("UPDATE cabinet.follower SET leased_until = cabinet.now() WHERE kind = 'rebuild'")
  const lost = { state: "failed", code: "rebuild_ended", message: expect.stringContaining("was lost") }
  expect(await stateOf(source)).toMatchObject(lost)
  await other.runPromise(tidy)
  expect(await stateOf(source)).toMatchObject(lost)
  expect(await remains()).toEqual([])
  expect((await rowsOf("lost")).slice(0, 1)).toEqual(before)
  await Effect.runPromise(Fiber.interrupt(held))
})
