/** `table rebuild` as its users call it, here and over a server: a preview, the new table, refusals, and cancelling. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { endAll, newHome } from "../../../../test/support/cabinetProcess.ts"
import { heldTable } from "../../../../test/support/heldTable.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { call } from "./call.ts"

const database = withDatabase()
const dir = mkdtempSync(join(tmpdir(), "cabinet-rebuild-"))
const types = join(dir, "types.json")
let baseUrl: string
let sourceId: number
beforeAll(async () => {
  for (const [name, value] of Object.entries({ DATABASE_URL: database.url, BASE_URL: "", CABINET_TOKEN: "" })) {
    vi.stubEnv(name, value)
  }
  baseUrl = (await newHome().serve([], { DATABASE_URL: database.url })).baseUrl
  vi.stubEnv("BASE_URL", baseUrl)
  const token = await call(["token", "add", "me", "--role", "editor", "--json"])
  vi.stubEnv("CABINET_TOKEN", JSON.parse(token.printed).token)
  const { id, intake_url } = JSON.parse((await call(["source", "add", "Orders", "--json"])).printed)
  sourceId = id
  const headers = { "content-type": "application/json" }
  const body = `[{"total":"12.50","note":"a"},{"total":"about 3","note":"b"}]`
  await fetch(intake_url, { method: "POST", headers, body })
})
afterAll(async () => {
  await endAll()
  vi.unstubAllEnvs()
  rmSync(dir, { recursive: true })
})

const here = (...words: ReadonlyArray<string>) => call(["table", "rebuild", "Orders", ...words])
const there = (...words: ReadonlyArray<string>) => here(...words, "--server", baseUrl)

it("table rebuild previews, rebuilds and refuses over a server as it does here", async () => {
  writeFileSync(types, `[{"column":"note","name":"remark"},{"column":"total","type":"numeric"}]`)
  const preview = await here("--types", types, "--dry-run")
  expect(preview).toMatchObject({ code: 0, said: "", printed: expect.stringContaining("note") })
  expect(await there("--types", types, "--dry-run")).toEqual(preview)
  const done = await there("--types", types, "--json")
  expect(done).toMatchObject({ code: 0, said: "" })
  expect(JSON.parse(done.printed)).toMatchObject({
    table: "sources.orders",
    rows: 2,
    columns: ["remark", "total", "total_text"],
    indexes_missing: [],
  })
  const refused = await there("--types", types)
  expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('no field column "note"') })
  expect(await here("--types", types)).toEqual(refused)
  expect((await here()).printed).toMatch(
    /^sources\.orders is rebuilt: 2 rows, 3 columns\. It was locked for \d+ ms\.\n$/,
  )
  expect((await there("--cancel")).printed).toBe("No rebuild was running.\n")
})

it("table rebuild over a server ends when somebody cancels it anywhere", async () => {
  await using _reader = await heldTable(database.url, "sources.orders")
  const running = there()
  const step = () => database.run("SELECT step FROM cabinet.table_rebuild WHERE state = 'running'")
  await expect.poll(step, { timeout: 100_000 }).toEqual([{ step: "swap" }])
  const headers = { authorization: `Bearer ${process.env["CABINET_TOKEN"]}` }
  const cancelled = await fetch(`${baseUrl}/manage/v1/sources/${sourceId}/rebuild/cancel`, { method: "POST", headers })
  expect(await cancelled.json()).toEqual({ source_id: sourceId, cancelled: true })
  expect(await running).toMatchObject({ code: 1, said: "The rebuild was cancelled. The old table is as it was.\n" })
})
