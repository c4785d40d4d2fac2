/** Undoing and cancelling an import over the management API: roles, the preview, and the audit log. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { SAME_ORIGIN, visitor, type Visitor } from "../support/browserSession.ts"
import { withDatabase } from "../support/postgres.ts"
import { runSql } from "../support/postgresAdmin.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let editor: Visitor
let viewer: Visitor
let owner: Visitor
let headers: Readonly<Record<string, string>>
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 0)
  headers = await cabinet.as("editor")
  editor = visitor(cabinet.base, headers)
  viewer = visitor(cabinet.base, await cabinet.as("viewer"))
  owner = visitor(cabinet.base, await cabinet.as("owner"))
})
afterAll(() => cabinet.close())

const imported = async (text: string): Promise<number> => {
  const form = new FormData()
  form.set("source_id", String(cabinet.source.id))
  form.set("file", new Blob([text]), "orders.csv")
  const answer = await fetch(`${cabinet.base}/console/files`, {
    method: "POST",
    body: form,
    headers: { ...SAME_ORIGIN, ...headers },
  })
  assert.strictEqual(answer.status, 200, await answer.text())
  return (await editor.manage("GET", "imports")).json.data[0].id
}

it("an import is undone after a count, once for its key, by those who may trash events", async () => {
  const id = await imported("total,note\n1,a\n2,b\n")
  const counts = { events: 2, in_trash: 0, rows: 2, columns: ["total", "note"], kept: [], deliveries: 0 }
  assert.deepStrictEqual((await editor.manage("GET", `imports/${id}/undo`)).json, { import_id: id, ...counts })
  assert.isNull((await viewer.manage("GET", `imports/${id}`)).json.undo)
  for (const method of ["GET", "POST"]) {
    assert.strictEqual((await viewer.manage(method, `imports/${id}/undo`)).status, 403)
  }
  const key = { ...SAME_ORIGIN, "idempotency-key": "undo-1" }
  const undone = await editor.manage("POST", `imports/${id}/undo`, undefined, key)
  assert.strictEqual(undone.status, 200, undone.text)
  const { undo, state } = undone.json
  assert.deepInclude(undo, { state: "undone", events: 2, position: 2, columns: ["total", "note"], kept: [] })
  assert.strictEqual(state, "done")
  assert.deepStrictEqual((await editor.manage("POST", `imports/${id}/undo`, undefined, key)).json, undone.json)
  assert.deepStrictEqual((await viewer.manage("GET", `imports/${id}`)).json, undone.json)
  assert.deepStrictEqual((await editor.manage("POST", `imports/${id}/undo`)).json, undone.json)
  assert.deepStrictEqual(await runSql(database.url, "SELECT * FROM sources.orders"), [])
  const trashed = await runSql(database.url, "SELECT actor_kind AS kind FROM cabinet.trashed_event")
  assert.deepStrictEqual(
    trashed.map(({ kind }) => kind),
    ["token", "token"],
  )
  const audit = (await owner.manage("GET", "audit")).json.data as ReadonlyArray<{ action: string; object: string }>
  assert.isTrue(audit.some(({ action, object }) => action === "file.undo" && object === `import ${id}`))
})

it("an import is cancelled over the management API by an editor, and then undone", async () => {
  const id = await imported("total,later\n4,x\n")
  const done = await editor.manage("POST", `imports/${id}/cancel`)
  assert.deepStrictEqual([done.status, done.json.error.code], [409, "import_done"])
  await runSql(
    database.url,
    `UPDATE cabinet.import SET state = 'accepting', staged = 9, finished_at = NULL, lease = 'elsewhere',
       lease_until = cabinet.now() + interval '1 hour' WHERE id = ${id}`,
  )
  assert.strictEqual((await viewer.manage("POST", `imports/${id}/cancel`)).status, 403)
  const cancelled = await editor.manage("POST", `imports/${id}/cancel`)
  assert.strictEqual(cancelled.status, 200, cancelled.text)
  assert.deepInclude(cancelled.json, { state: "failed", failure: "it was cancelled", rows: 9, accepted: 1 })
  assert.isString(cancelled.json.cancelled_at)
  assert.deepStrictEqual((await editor.manage("POST", `imports/${id}/cancel`)).json, cancelled.json)
  const audit = (await owner.manage("GET", "audit")).json.data as ReadonlyArray<{ action: string; object: string }>
  assert.isTrue(audit.some(({ action, object }) => action === "file.cancel" && object === `import ${id}`))
  const undone = await editor.manage("POST", `imports/${id}/undo`)
  assert.deepInclude(undone.json.undo, { state: "undone", events: 1, columns: ["total", "later"] })
})

it("an import keeps its doubts, and its screen shows them", async () => {
  const id = await imported("total,note\n1,a\n2\n3\n")
  const [short, ...others] = (await viewer.manage("GET", `imports/${id}`)).json.doubts
  const places = [3, 4].map((line) => ({ line, column: null }))
  assert.deepInclude(short, { kind: "short_rows", count: 2, places })
  assert.deepStrictEqual(others, [])
  const screen = await (await fetch(`${cabinet.base}/console/files/${id}`, { headers })).text()
  assert.include(screen, "fewer cells")
  assert.deepStrictEqual((await viewer.manage("GET", `imports/${await imported("total\n1\n")}`)).json.doubts, [])
})

it("an import that does not exist, or that runs, is refused", async () => {
  const missing = await editor.manage("POST", "imports/999/undo")
  assert.deepStrictEqual(
    [missing.status, missing.json.error.code, missing.json.error.param],
    [404, "no_such_import", "id"],
  )
  const id = await imported("total\n3\n")
  await runSql(database.url, `UPDATE cabinet.import SET state = 'accepting', staged = 9 WHERE id = ${id}`)
  const running = await editor.manage("POST", `imports/${id}/undo`)
  assert.deepStrictEqual([running.status, running.json.error.code], [409, "import_running"])
})
