/**
 * A full disk: PostgreSQL responds, but cannot write. Without rights on the machine a test cannot fill a disk, so PostgreSQL
 * is made to raise the same errors wherever it would need space: for events and for new tables.
 */
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let home: Home
let server: ServerProcess
beforeAll(async () => {
  home = newHome()
  server = await home.serve([], { DATABASE_URL: database.url, CABINET_INTAKE_RATE: "0", LOG_FORMAT: "json" })
})
afterAll(async () => {
  await database.run("DROP EVENT TRIGGER IF EXISTS no_room")
  await endAll()
})

const NO_ROOM = `BEGIN RAISE EXCEPTION 'could not extend file "base/5/1": No space left on device' USING ERRCODE = '53100'; END`

const send = async (n: number) => {
  const answer = await fetch(server.welcome.source!.intake_url, {
    method: "POST",
    body: JSON.stringify({ n }),
    headers: { "content-type": "application/json" },
  })
  return { status: answer.status, detail: ((await answer.json()) as { detail?: string }).detail }
}
/** Runs `cabinet doctor`, a separate process that has never written an event. */
const diagnosis = async () => {
  const { code, stdout } = await home.cabinet(["doctor", "--json"], { DATABASE_URL: database.url })
  const { findings } = JSON.parse(stdout) as {
    findings: ReadonlyArray<{ check: string; level: string; message: string }>
  }
  return { code, ...findings.find(({ check }) => check === "writing")! }
}
const ready = async () => {
  const answer = await fetch(`${server.baseUrl}/readyz`)
  return { status: answer.status, ...((await answer.json()) as object) }
}

it("is reported by /readyz, doctor, the log and to the sender, and its end is noticed without an event", async () => {
  expect((await send(1)).status).toBe(200)
  expect(await ready()).toMatchObject({ status: 200 })
  expect(await diagnosis()).toMatchObject({ level: "ok" })
  await database.run(`CREATE FUNCTION public.no_room() RETURNS event_trigger LANGUAGE plpgsql AS $$ ${NO_ROOM} $$`)
  await database.run(`CREATE FUNCTION public.no_row() RETURNS trigger LANGUAGE plpgsql AS $$ ${NO_ROOM} $$`)
  await database.run(
    "CREATE TRIGGER no_row BEFORE INSERT ON cabinet.event FOR EACH ROW EXECUTE FUNCTION public.no_row()",
  )
  await database.run(
    "CREATE EVENT TRIGGER no_room ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION public.no_room()",
  )
  // PostgreSQL refused it, so it is certain that nothing was saved.
  expect(await send(2)).toEqual({ status: 503, detail: "Nothing can be saved right now; send it again" })
  // What another process logs arrives by itself.
  await expect
    .poll(() => server.log())
    .toMatch(/accepting events was interrupted: its disk is full \(could not extend file/)
  await expect
    .poll(() => server.log())
    .toContain("intake responds with 503: The database cannot be used: its disk is full.")
  await expect.poll(ready).toEqual({ status: 503, ok: false, error: "events cannot be written: its disk is full" })
  expect(await diagnosis()).toMatchObject({
    code: 1,
    level: "bad",
    message: expect.stringMatching(/: its disk is full\./),
  })
  await database.run("DROP TRIGGER no_row ON cabinet.event")
  expect((await ready()).status).toBe(503)
  await database.run("DROP EVENT TRIGGER no_room")
  await expect.poll(ready, { timeout: 100_000 }).toMatchObject({ status: 200 })
  expect((await send(2)).status).toBe(200)
  for (const line of server.log().trim().split("\n"))
    expect(JSON.parse(line)).toMatchObject({ level: expect.any(String) })
})
