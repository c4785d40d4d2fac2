/** A table is rebuilt over the management API and by the library: roles, what is refused, progress, cancelling, the audit log. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { csvCorpus } from "../../packages/core/test/file/csvCorpus.ts"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"
import { heldTable } from "../support/heldTable.ts"
import { runSql } from "../support/postgresAdmin.ts"
import { curlFile, curlForm, githubPush, stripeEvent, telegramUpdate } from "../support/senders.ts"
import { CONTENTS } from "../support/workbooks/contents.ts"
import { corpus } from "../support/workbooks/corpus.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let at: string
let editor: Visitor
let viewer: Visitor
let owner: Visitor
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 3)
  at = `sources/${cabinet.source.id}/rebuild`
  editor = visitor(cabinet.base, await cabinet.as("editor"))
  viewer = visitor(cabinet.base, await cabinet.as("viewer"))
  owner = visitor(cabinet.base, await cabinet.as("owner"))
})
afterAll(() => cabinet.close())

const columns = async () => {
  const found = await runSql(
    database.url,
    "SELECT attname::text AS name FROM pg_attribute WHERE attrelid = 'sources.orders'::regclass AND attnum > 2 AND NOT attisdropped ORDER BY attnum",
  )
  return found.map(({ name }) => String(name))
}

const acts = async () => {
  const all = (await owner.manage("GET", "audit")).json.data as ReadonlyArray<{
    readonly action: string
    readonly outcome: string
  }>
  return all.filter(({ action }) => action.startsWith("table.")).map(({ action, outcome }) => `${action} ${outcome}`)
}

const stateIs = (wanted: object) =>
  expect.poll(async () => (await viewer.manage("GET", at)).json, { timeout: 100_000 }).toMatchObject(wanted)

it("a rebuild is previewed and run by those who may change columns, and its state says what came of it", async () => {
  const none = await viewer.manage("GET", at)
  assert.deepStrictEqual([none.status, none.json.error.code, none.json.error.param], [404, "no_rebuild", "id"])
  const wishes = {
    columns: [
      { column: "note", name: "remark" },
      { column: "total", type: "text" },
    ],
  }
  for (const path of [at, `${at}/preview`, `${at}/cancel`]) {
    const denied = await viewer.manage("POST", path, path.endsWith("cancel") ? undefined : wishes)
    assert.deepStrictEqual([denied.status, denied.json.error.code], [403, "role_missing"])
  }
  const preview = await editor.manage("POST", `${at}/preview`, wishes)
  assert.strictEqual(preview.status, 200, preview.text)
  assert.deepInclude(preview.json, { table: "sources.orders", rows: 3, in_the_way: [] })
  assert.deepInclude(preview.json.columns[0], { name: "remark", was: "note" })
  const started = await editor.manage("POST", at, wishes)
  assert.strictEqual(started.status, 200, started.text)
  assert.deepInclude(started.json, { source_id: cabinet.source.id, code: null, message: null })
  await stateIs({ state: "done" })
  const { json } = await viewer.manage("GET", at)
  assert.deepInclude(json, { state: "done", step: "swap", done: 3, rows: 3, code: null, message: null })
  assert.deepInclude(json.result, { table: "sources.orders", rows: 3, indexes_missing: [] })
  assert.deepStrictEqual(json.result.columns.slice(0, 2), ["remark", "total"])
  assert.deepStrictEqual((await columns()).slice(0, 2), ["remark", "total"])
  assert.isString(json.finished_at)
  assert.deepStrictEqual(await acts(), ["table.rebuild done"])
})

it("a rebuild with wrong columns is refused in its response, and its state keeps the reason", async () => {
  const wrong = await editor.manage("POST", at, { columns: [{ column: "remark", name: "No name" }] })
  await stateIs({ state: "failed", step: "plan", code: "bad_columns", result: null })
  const { json } = await viewer.manage("GET", at)
  // The response waits two seconds for a rebuild to end; a machine may stand still for longer.
  if (wrong.status !== 200) {
    const { code, param, message } = wrong.json.error
    assert.deepStrictEqual([wrong.status, code, param, message], [400, "bad_columns", "/columns", json.message])
  }
  const missing = await editor.manage("POST", "sources/999/rebuild", {})
  assert.deepStrictEqual([missing.status, missing.json.error.code], [404, "no_such_source"])
})

it("a rebuild that waits for the table shows its progress, refuses another, and is cancelled", async () => {
  const before = await columns()
  await using _reader = await heldTable(database.url, "sources.orders")
  const started = await editor.manage("POST", at, { columns: [{ column: "paid" }] })
  assert.strictEqual(started.status, 200, started.text)
  assert.deepInclude(started.json, { state: "running", finished_at: null, result: null })
  await stateIs({ step: "swap" })
  const second = await editor.manage("POST", at, {})
  assert.deepStrictEqual([second.status, second.json.error.code], [409, "rebuild_running"])
  assert.strictEqual((await viewer.manage("GET", at)).json.state, "running")
  const cancelled = await editor.manage("POST", `${at}/cancel`)
  assert.deepStrictEqual(cancelled.json, { source_id: cabinet.source.id, cancelled: true })
  const { json } = await viewer.manage("GET", at)
  assert.deepInclude(json, { state: "cancelled", code: "rebuild_ended", result: null })
  assert.isString(json.finished_at)
  assert.isFalse((await editor.manage("POST", `${at}/cancel`)).json.cancelled)
  assert.deepStrictEqual(await columns(), before)
})

it("the library rebuilds with progress, begins one that goes on, and cancels it", async () => {
  const { rebuilds } = cabinet.cabinet
  const { id } = cabinet.source
  const steps = new Set<string>()
  const result = await rebuilds.run(id, {
    columns: [{ column: "paid" }],
    onProgress: ({ step }) => void steps.add(step),
  })
  assert.deepStrictEqual([result.rows, result.columns[0]], [3, "paid"])
  assert.deepStrictEqual([...steps], ["plan", "rows", "indexes", "changes", "swap"])
  assert.strictEqual((await rebuilds.preview(id)).columns[0]!.name, "paid")
  await using _reader = await heldTable(database.url, "sources.orders")
  assert.deepInclude(await rebuilds.start(id), { state: "running" })
  const refused = await rebuilds.run(id).catch((error: unknown) => error)
  assert.deepInclude(refused, { code: "rebuild_running" })
  assert.isTrue(await rebuilds.cancel(id))
  assert.deepInclude(await rebuilds.get(id), { state: "cancelled" })
})

/** A file of each table and each workbook's content, in the first of the ways that can write it. */
const corpora = (): ReadonlyArray<{ readonly name: string; readonly bytes: Buffer }> => {
  const files = new Map<string, Buffer>()
  for (const { name, bytes } of csvCorpus()) {
    const file = `${name.split(" ")[0]}.csv`
    if (!files.has(file)) files.set(file, bytes)
  }
  for (const [n, content] of CONTENTS.entries()) {
    files.set(
      `${n}.xlsx`,
      corpus()
        .find((one) => one.content === content && one.file === "xlsx")!
        .bytes(),
    )
  }
  return [...files].map(([name, bytes]) => ({ name, bytes }))
}

it("a rebuilt table of every corpus, by files and by senders, equals the one before, cell for cell", async () => {
  const { sources, imports, rebuilds } = cabinet.cabinet
  const dir = mkdtempSync(join(tmpdir(), "rebuilt-"))
  try {
    const { id, intakeUrl } = await sources.create({ name: "Corpora" })
    for (const { headers, body } of [curlForm, curlFile, stripeEvent, githubPush, telegramUpdate]) {
      const sent = await fetch(intakeUrl, { method: "POST", headers, body })
      assert.strictEqual(sent.status, 200, await sent.text())
    }
    for (const { name, bytes } of corpora()) {
      writeFileSync(join(dir, name), bytes)
      assert.strictEqual((await imports.file(id, join(dir, name), { skipRefused: true })).state, "done", name)
    }
    const table = () =>
      runSql(
        database.url,
        "SELECT row_to_json(whole_row)::text AS row FROM sources.corpora whole_row ORDER BY _event_id",
      )
    await expect.poll(() => runSql(database.url, "SELECT FROM cabinet.deferred_row")).toEqual([])
    const before = await table()
    assert.isAbove(before.length, 20)
    assert.strictEqual((await rebuilds.run(id)).rows, before.length)
    assert.deepStrictEqual(await table(), before)
  } finally {
    rmSync(dir, { recursive: true })
  }
})
