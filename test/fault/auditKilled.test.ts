/** A process killed between an act's intent and its outcome leaves an audit entry without an outcome. */
import { once } from "node:events"
import { afterAll, assert, beforeAll, expect, it, vi } from "vitest"
import { endAll, newHome } from "../support/cabinetProcess.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(async () => {
  await endAll()
  await database.drop()
})

const entries = () =>
  database.run("SELECT actor_kind, action, changes->>'name' AS name, outcome FROM cabinet.audit ORDER BY id")

it("a command killed with SIGKILL in the middle of its work leaves its audit entry open", async () => {
  // The act is blocked until its session ends with the database.
  await database.run(`CREATE FUNCTION cabinet.stand_still() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$`)
  await database.run(
    "CREATE TRIGGER stand_still BEFORE INSERT ON cabinet.api_key FOR EACH ROW EXECUTE FUNCTION cabinet.stand_still()",
  )
  const command = newHome().start(["key", "add", "Killed"], { DATABASE_URL: database.url })
  const ended = once(command, "exit")
  await vi.waitFor(async () => expect((await entries()).length).toBe(1), { timeout: 100_000, interval: 50 })
  command.kill("SIGKILL")
  await ended
  assert.deepStrictEqual(await entries(), [{ actor_kind: "cli", action: "key.issue", name: "Killed", outcome: null }])
})
