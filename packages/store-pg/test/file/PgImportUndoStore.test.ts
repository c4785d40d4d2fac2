import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { Trash } from "@data-cabinet/core/event/Trash"
import { Imports } from "@data-cabinet/core/file/Imports"
import { ImportUndoStore } from "@data-cabinet/core/file/ImportUndoStore"
import { undoWhole } from "@data-cabinet/core/file/ContinueUndo"
import { type Json, JsonNumber } from "@data-cabinet/core/json/Json"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { mayDrop } from "@data-cabinet/core/row/DropColumn"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { fileOf, importCabinet } from "../../../../test/support/importCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let cabinet: ReturnType<typeof importCabinet>
let second: ReturnType<typeof importCabinet>
beforeAll(() => {
  cabinet = importCabinet(database.url)
  second = importCabinet(database.url)
})
afterAll(async () => {
  await second.close()
  await cabinet.close()
})

const imported = async (sourceId: number, text: string, options = {}) => {
  const report = await cabinet.file(sourceId, fileOf("x.csv", text), options)
  assert.strictEqual(report.state, "done")
  return report.importId!
}
const post = async (sourceId: number, fields: Record<string, Json>) => {
  const [row] = await database.run(`SELECT version FROM cabinet.source WHERE id = ${sourceId}`)
  const events = [{ ...fingerprintedEvent(new Map(Object.entries(fields))), fingerprint: null }]
  const sent = {
    sourceId,
    sourceVersion: Number(row!["version"]),
    channel: "webhook",
    history: false,
    original: null,
  } as const
  const [receipt] = await cabinet.run(EventLog.use((log) => appendEvents(log, { ...sent, events })))
  return receipt!.id
}
const tryUndo = (id: number) => cabinet.run(Imports.use((all) => all.tryUndo(id)))
const undo = (id: number) => cabinet.run(undoWhole(id))
const refusal = (id: number) => cabinet.run(Effect.flip(Imports.use((all) => all.undo(id))))
const step = (id: number) => cabinet.run(ImportUndoStore.use((store) => store.step(id, mayDrop)))
const idsOf = async (sourceId: number, where = "true") =>
  (await database.run(`SELECT id::int FROM cabinet.event WHERE source_id = ${sourceId} AND ${where} ORDER BY id`)).map(
    ({ id }) => Number(id),
  )
const trash = (sourceId: number, ids: ReadonlyArray<number>) =>
  cabinet.run(Trash.use((all) => all.trash(sourceId, ids)))
const restore = (sourceId: number, ids: ReadonlyArray<number>) =>
  cabinet.run(Trash.use((all) => all.untrash(sourceId, ids)))
const columnsOf = (sourceId: number) =>
  cabinet.run(SourceColumns.use((all) => Effect.map(all.list(sourceId), (columns) => columns.map(({ name }) => name))))

it("undo moves the events of an import to the trash with their rows, and drops the columns that only it filled", async () => {
  const source = await cabinet.source("Taken back")
  await post(source.id, { total: "1" })
  const other = await imported(source.id, "total,kept\n2,x\n")
  const id = await imported(source.id, "total,note,city\n3,a,b\n4,,c\n")
  await post(source.id, { total: "5", city: "sent later" })
  const counts = { events: 2, inTrash: 0, rows: 2, columns: ["note"], kept: [], deliveries: 0 }
  assert.deepStrictEqual(await tryUndo(id), { importId: id, ...counts })
  const { undo: undone } = await undo(id)
  assert.deepInclude(undone, { state: "undone", events: 2, columns: ["note"], kept: [], position: 2 })
  assert.isNotNull(undone!.finishedAt)
  assert.deepStrictEqual(await database.run("SELECT total, kept, city FROM sources.taken_back ORDER BY _event_id"), [
    { total: "1", kept: null, city: null },
    { total: "2", kept: "x", city: null },
    { total: "5", kept: null, city: "sent later" },
  ])
  assert.deepStrictEqual(await columnsOf(source.id), ["total", "kept", "city"])
  const feed = await cabinet.feed(source.id)
  assert.deepStrictEqual(
    feed.map((event) => [event.payload.total, event.deleted_at !== null]),
    [
      ["1", false],
      ["2", false],
      ["3", true],
      ["4", true],
      ["5", false],
    ],
  )
  assert.strictEqual((await cabinet.run(Imports.use((all) => all.get(other)))).undo, null)
  assert.deepInclude(await tryUndo(id), { events: 0, inTrash: 2, rows: 0 })
})

it("undoing again changes nothing, and leaves events restored by hand", async () => {
  const source = await cabinet.source("Twice")
  const id = await imported(source.id, "note\na\nb\n")
  const first = await undo(id)
  assert.deepStrictEqual(await columnsOf(source.id), [])
  const [restored] = await idsOf(source.id)
  await restore(source.id, [restored!])
  // The field becomes a column again, as a new field would.
  await expect.poll(() => columnsOf(source.id)).toEqual(["note"])
  await expect.poll(() => database.run("SELECT note FROM sources.twice")).toEqual([{ note: "a" }])
  assert.deepStrictEqual(await undo(id), first)
  assert.deepStrictEqual(await columnsOf(source.id), ["note"])
})

it("undo does not change events that were trashed, purged or restored before", async () => {
  const source = await cabinet.source("By hand")
  const id = await imported(source.id, "note\na\nb\nc\nd\n")
  const [trashed, purged, back] = await idsOf(source.id)
  await trash(source.id, [trashed!, back!])
  await restore(source.id, [back!])
  await cabinet.run(Trash.use((all) => all.purge([purged!])))
  const [{ at } = { at: null }] = await database.run(`SELECT deleted_at AS at FROM cabinet.event WHERE id = ${trashed}`)
  assert.deepInclude(await tryUndo(id), { events: 2, inTrash: 2, rows: 2 })
  assert.deepInclude((await undo(id)).undo, { events: 2, columns: ["note"] })
  assert.deepStrictEqual(await database.run(`SELECT deleted_at AS at FROM cabinet.event WHERE id = ${trashed}`), [
    { at },
  ])
})

it("undo drops a column of a trashed event, which returns with it", async () => {
  const source = await cabinet.source("Trashed column")
  const id = await imported(source.id, "note,total\na,1\n")
  const later = await post(source.id, { note: "later" })
  await trash(source.id, [later])
  assert.deepInclude((await undo(id)).undo, { columns: ["note", "total"] })
  await restore(source.id, [later])
  await expect.poll(() => database.run("SELECT note FROM sources.trashed_column")).toEqual([{ note: "later" }])
})

it("undo drops columns that two imports filled only with the second", async () => {
  const source = await cabinet.source("Both")
  const first = await imported(source.id, "note\na\n")
  const later = await imported(source.id, "note\nb\n")
  assert.deepInclude((await undo(first)).undo, { columns: [] })
  assert.deepInclude(await tryUndo(later), { columns: ["note"] })
  assert.deepInclude((await undo(later)).undo, { columns: ["note"] })
})

it("undo keeps columns that were labelled, retyped or are used, and names the view", async () => {
  const source = await cabinet.source("Cared for")
  const id = await imported(source.id, "labelled,typed,viewed,plain\na,1,c,d\n")
  const columns = <A, E>(use: (all: SourceColumns["Service"]) => Effect.Effect<A, E>) =>
    cabinet.run(SourceColumns.use(use))
  await columns((all) => all.relabel(source.id, "labelled", "A label"))
  await columns((all) => all.retype(source.id, "typed", "numeric", { withViews: false }))
  await database.run("CREATE VIEW public.cared AS SELECT viewed FROM sources.cared_for")
  const expected = { columns: ["plain"], kept: 1 }
  const found = await tryUndo(id)
  assert.deepStrictEqual({ columns: found.columns, kept: found.kept.length }, expected)
  const { undo: undone } = await undo(id)
  assert.deepStrictEqual({ columns: undone!.columns, kept: undone!.kept.length }, expected)
  assert.strictEqual(undone!.kept[0]!.column, "viewed")
  assert.include(undone!.kept[0]!.reason, "public.cared")
  assert.deepStrictEqual(await columnsOf(source.id), ["labelled", "typed", "viewed"])
})

it("undo distinguishes an import's columns from a sender's by their events", async () => {
  const source = await cabinet.source("Siblings")
  await post(source.id, { amount: new JsonNumber("1") })
  const id = await imported(source.id, "amount\nabout 2\n")
  assert.deepInclude((await undo(id)).undo, { columns: ["amount_text"] })
  await post(source.id, { amount: new JsonNumber("3") })
  assert.deepStrictEqual(await database.run("SELECT amount::text AS amount FROM sources.siblings ORDER BY _event_id"), [
    { amount: "1" },
    { amount: "3" },
  ])
})

it("undo refuses a running or unknown import, a poll's, and one of an earlier version", async () => {
  const source = await cabinet.source("Refused")
  const id = await imported(source.id, "note\na\n")
  await database.run(`UPDATE cabinet.import SET state = 'accepting', staged = 3 WHERE id = ${id}`)
  assert.deepInclude(await refusal(id), {
    code: "import_running",
    message: `Import ${id} is not at its end: 1 of 3 rows are accepted. Undo it once it is done, or cancel it first.`,
  })
  await database.run(`UPDATE cabinet.import SET state = 'failed' WHERE id = ${id}`)
  assert.strictEqual((await tryUndo(id)).events, 1)
  await database.run(`UPDATE cabinet.import SET channel = 'pull' WHERE id = ${id}`)
  assert.deepInclude(await refusal(id), { code: "no_such_import" })
  await database.run(`UPDATE cabinet.import SET channel = 'file' WHERE id = ${id}`)
  await database.run(`DELETE FROM cabinet.import_slice WHERE import_id = ${id}`)
  assert.deepInclude(await refusal(id), { code: "import_not_recorded" })
  assert.deepInclude(await refusal(999_999), { code: "no_such_import" })
  assert.deepStrictEqual(await idsOf(source.id, "deleted_at IS NOT NULL"), [])
})

it("the same file can be imported again only after its import is undone", async () => {
  const source = await cabinet.source("Again")
  const text = "note\na\n"
  const id = await imported(source.id, text)
  assert.deepInclude(await cabinet.refused(source.id, fileOf("x.csv", text)), { code: "same_file" })
  await undo(id)
  const again = await imported(source.id, text)
  assert.deepInclude(await cabinet.refused(source.id, fileOf("x.csv", text)), { code: "same_file" })
  await undo(again)
})

it("each step undoes a slice; another process continues, and counts no event twice", async () => {
  const source = await cabinet.source("Stepped")
  const text = `note\n${Array.from({ length: 1_600 }, (_, n) => `n${n}`).join("\n")}\n`
  const id = await imported(source.id, text)
  await cabinet.run(ImportUndoStore.use((store) => store.begin(id, null)))
  assert.strictEqual(await step(id), "more")
  const after = await idsOf(source.id, "deleted_at IS NOT NULL")
  assert.deepStrictEqual([after.length > 0, after.length < 1_600], [true, true])
  const [mine, theirs] = await Promise.all([undo(id), second.run(undoWhole(id))])
  assert.deepInclude(mine.undo, { state: "undone", events: 1_600, position: 1_600, columns: ["note"] })
  assert.deepStrictEqual(theirs.undo, mine.undo)
  assert.deepStrictEqual(await database.run("SELECT count(*)::int AS n FROM sources.stepped"), [{ n: 0 }])
})

it("undo works after the table was dropped or the source deleted", async () => {
  const source = await cabinet.source("Tableless")
  const id = await imported(source.id, "note\na\n")
  await database.run("DROP TABLE sources.tableless")
  assert.deepInclude(await tryUndo(id), { events: 1, rows: 0, columns: [] })
  assert.deepInclude((await undo(id)).undo, { state: "undone", events: 1, columns: [] })
})

it("imports whose slices share a transaction are undone separately", async () => {
  const source = await cabinet.source("Shared")
  const texts = ["a", "b", "c"].map(
    (letter) => `note\n${Array.from({ length: 700 }, (_, n) => letter + n).join("\n")}\n`,
  )
  const ids = await Promise.all(texts.map((text) => imported(source.id, text)))
  await undo(ids[1]!)
  const left = await database.run(
    "SELECT left(note, 1) AS letter, count(*)::int AS n FROM sources.shared GROUP BY 1 ORDER BY 1",
  )
  assert.deepStrictEqual(left, [
    { letter: "a", n: 700 },
    { letter: "c", n: 700 },
  ])
})
