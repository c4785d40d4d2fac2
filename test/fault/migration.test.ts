/** A server of the previous version keeps serving while the schema is migrated to the next one, and afterwards. */
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { applyMigrations, migrations } from "@data-cabinet/store-pg/migrations/PgMigrations"
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let home: Home
let server: ServerProcess
let env: Record<string, string>

beforeAll(async () => {
  env = { DATABASE_URL: database.url, CABINET_INTAKE_RATE: "0", CABINET_API_RATE: "1000000" }
  home = newHome()
  server = await home.serve([], env)
})
afterAll(() => endAll())

const TOMORROW = {
  number: 9001,
  name: "tomorrow",
  statements: [
    "ALTER TABLE cabinet.event ADD COLUMN tomorrow text",
    "ALTER TABLE cabinet.source ADD COLUMN tomorrow text NOT NULL DEFAULT ''",
    "ALTER TABLE cabinet.api_key ADD COLUMN tomorrow text",
    "ALTER TABLE cabinet.delivery ADD COLUMN tomorrow text",
    "CREATE INDEX event_tomorrow ON cabinet.event (tomorrow) WHERE tomorrow IS NOT NULL",
  ],
}

const migrateToTomorrow = () =>
  Effect.runPromise(
    Effect.flatMap(migrations, (all) => applyMigrations([...all, TOMORROW])).pipe(
      Effect.provide(OwnerClient.layer({ url: database.url, maxConnections: 2 })),
    ),
  )

/** Alternately sends and reads until stopped; returns every status. */
const load = (sender: number, isOver: () => boolean) =>
  (async () => {
    const statuses: Array<number> = []
    const headers = { authorization: `Bearer ${server.welcome.key!.key}` }
    for (let n = 0; !isOver() || n < 3; n++) {
      const body = new URLSearchParams({ sender: `${sender}`, n: `${n}` })
      statuses.push((await fetch(server.welcome.source!.intake_url, { method: "POST", body })).status)
      for (const path of ["events?limit=5", "tables/sources/first_source/rows?limit=5", "sources"]) {
        const response = await fetch(`${server.baseUrl}/api/v1/${path}`, { headers })
        await response.text()
        statuses.push(response.status)
      }
    }
    return statuses
  })()

it("every request gets a response while a new version changes the tables in use, even after a long reader", async () => {
  let over = false
  const senders = Array.from({ length: 4 }, (_, sender) => load(sender, () => over))
  const ended: Array<string> = []
  // It locks the table as any report does: the change has to wait for it, and requests may wait for neither.
  await database.run("CREATE TABLE public.read_enough ()")
  const reader = database
    .run(
      `DO $$ BEGIN
         PERFORM count(*) FROM cabinet.event;
         WHILE NOT EXISTS (SELECT FROM public.read_enough) LOOP PERFORM pg_sleep(0.02); END LOOP;
       END $$`,
    )
    .then(() => ended.push("reader"))
  const sees = async (lock: string) =>
    (await database.run(`SELECT FROM pg_locks WHERE relation = 'cabinet.event'::regclass AND ${lock}`)).length > 0
  const reads =
    "pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'DO $$ BEGIN%' AND state = 'active')"
  while (!(await sees(`granted AND ${reads}`)));
  const migrating = migrateToTomorrow()
  while (!(await sees("NOT granted AND mode = 'AccessExclusiveLock'")));
  // Long enough that the migration is attempted more than once.
  await new Promise((done) => setTimeout(done, 1500))
  await database.run("INSERT INTO public.read_enough DEFAULT VALUES")
  expect(await migrating).toEqual(["9001_tomorrow"])
  ended.push("migration")
  await reader
  over = true
  const statuses = (await Promise.all(senders)).flat()
  expect(ended).toEqual(["reader", "migration"])
  expect(statuses.filter((status) => status !== 200)).toEqual([])
  expect((await fetch(`${server.baseUrl}/readyz`)).status).toBe(200)
})

it("a program of the previous version does not start on the newer schema, and says which version to start", async () => {
  const { code, stderr } = await home.cabinet(["serve", "--port", "0"], env)
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^The database has had migration 9001, but this program knows only \d+: .* Start that version or a later one\.\n$/,
  )
})
