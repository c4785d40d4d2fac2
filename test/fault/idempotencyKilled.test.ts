/** A server that is killed between the claim of an idempotency key and the end of its work leaves no doubt behind. */
import { afterAll, assert, beforeAll, expect, it, vi } from "vitest"
import { endAll, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(async () => {
  await endAll()
  await database.drop()
})

it("after SIGKILL a repeat is told that the outcome is unknown, and the act was not done", async () => {
  const home = newHome()
  const env = { DATABASE_URL: database.url }
  const first = await home.serve([], env)
  const second = await newHome().serve([], env)
  const issued = await home.cabinet(["token", "add", "Deployment", "--role", "owner", "--get", "token"], env)
  const post = async ({ baseUrl }: ServerProcess) => {
    const response = await fetch(`${baseUrl}/manage/v1/keys`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${issued.stdout.trim()}`,
        "content-type": "application/json",
        "idempotency-key": "killed",
      },
      body: '{"name":"Killed"}',
    })
    return { status: response.status, code: ((await response.json()) as any).error?.code }
  }
  await database.run(`CREATE FUNCTION cabinet.stand_still() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$`)
  await database.run(
    "CREATE TRIGGER stand_still BEFORE INSERT ON cabinet.api_key FOR EACH ROW EXECUTE FUNCTION cabinet.stand_still()",
  )
  const killed = post(first).catch(() => null)
  const records = () => database.run("SELECT response FROM cabinet.idempotency")
  const sleeping = () => database.run("SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
  await vi.waitFor(async () => expect((await sleeping()).length).toBe(1), { timeout: 20_000, interval: 50 })
  assert.deepStrictEqual(await post(second), { status: 409, code: "in_progress" })
  await first.stop("SIGKILL")
  assert.isNull(await killed)

  await database.run("UPDATE cabinet.clock SET shift = '61 s'")
  assert.deepStrictEqual(await post(second), { status: 409, code: "outcome_unknown" })
  assert.deepStrictEqual(await records(), [{ response: null }])
  assert.deepStrictEqual(await database.run("SELECT outcome FROM cabinet.audit WHERE action = 'key.issue'"), [
    { outcome: null },
  ])
  await database.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
  assert.deepStrictEqual(await database.run("SELECT FROM cabinet.api_key WHERE name = 'Killed'"), [])
})
