/** Another session changes a source's table between two statements of ours. */
import { Trash } from "@data-cabinet/core/event/Trash"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Imports } from "@data-cabinet/core/file/Imports"
import { RebuildStore } from "@data-cabinet/core/row/RebuildStore"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { fileOf, importCabinet } from "../../../../test/support/importCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let cabinet: ReturnType<typeof importCabinet>
beforeAll(() => {
  cabinet = importCabinet(database.url)
})
afterAll(() => cabinet.close())

/** A source whose column `note` has lost its only value, which an import brought; `total` has one. */
const withEmptyNote = async (table: string) => {
  const source = await cabinet.source(table)
  const { importId } = await cabinet.file(source.id, fileOf("x.csv", "note\nx\n"))
  await cabinet.file(source.id, fileOf("y.csv", "total\n1\n"))
  const rows = await database.run(`SELECT _event_id::int AS id FROM sources.${table} ORDER BY 1`)
  const [noted, other] = rows.map(({ id }) => Number(id))
  await cabinet.run(Trash.use((all) => all.trash(source.id, [noted!])))
  return { id: source.id, importId: importId!, other: other! }
}

/** Runs work beside a change of the table, which is committed once the work waits for it; returns how the work ended. */
const changedBeneath = async <A>(table: string, statement: string, work: () => Promise<A>): Promise<A> => {
  const changing = database.run(`DO $$ DECLARE changed oid := 'sources.${table}'::regclass; BEGIN
    ${statement};
    WHILE NOT EXISTS (SELECT FROM pg_locks WHERE relation = changed AND NOT granted) LOOP
      PERFORM pg_sleep(0.005);
    END LOOP;
  END $$`)
  const isChanging = `SELECT FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
    WHERE c.relname = '${table}' AND l.mode = 'AccessExclusiveLock' AND l.granted`
  await expect.poll(() => database.run(isChanging)).toHaveLength(1)
  const ended = await work()
  await changing
  return ended
}

type Found = Awaited<ReturnType<typeof withEmptyNote>>
type Work = (found: Found) => Promise<unknown>

/** Again if the table was locked for too long, as a caller does. */
const ended = <A, E extends object>(work: Parameters<typeof cabinet.run<A, E>>[0]) =>
  cabinet.run(
    Effect.result(
      Effect.retry(work, {
        while: (error) => ("code" in error && error.code === "table_busy") || error instanceof StoreUnavailable,
      }),
    ),
  )

const drop: Work = ({ id }) => ended(SourceColumns.use((all) => all.drop(id, "note")))
const trial: Work = ({ id }) => ended(SourceColumns.use((all) => all.tryRetype(id, "note", "numeric")))
const preview: Work = ({ importId }) => ended(Imports.use((all) => all.tryUndo(importId)))
const facts: Work = ({ id }) => ended(RebuildStore.use((all) => all.facts(id)))
const trash: Work = ({ id, other }) => ended(Trash.use((all) => all.trash(id, [other])))

it.each([
  ["drop", drop, { success: { name: "note" } }],
  ["trial", trial, { failure: { code: "no_such_column" } }],
  ["preview", preview, { success: { columns: [] } }],
  ["facts", facts, { success: { obstacles: ["column note was dropped or renamed by hand"] } }],
])("%s of a table that loses a column meanwhile finds the table without it", async (name, work, expected) => {
  const table = `column_${name}`
  const found = await withEmptyNote(table)
  const outcome = await changedBeneath(table, `ALTER TABLE sources.${table} DROP COLUMN note`, () => work(found))
  expect(outcome).toMatchObject(expected)
})

it.each([
  ["drop", drop, { failure: { code: "no_table" } }],
  ["trial", trial, { failure: { code: "no_table" } }],
  ["preview", preview, { success: { rows: 0, columns: [] } }],
  ["facts", facts, { success: { table: { name: null } } }],
  ["trash", trash, { success: 1 }],
])("%s of a table that is dropped meanwhile finds none", async (name, work, expected) => {
  const table = `table_${name}`
  const found = await withEmptyNote(table)
  const outcome = await changedBeneath(table, `DROP TABLE sources.${table}`, () => work(found))
  expect(outcome).toMatchObject(expected)
})
