/**
 * Two servers of one database, each a separate process. Of equal requests with the same idempotency key, only one is carried
 * out. A server that is killed between claiming a key and completing the work leaves a clear outcome.
 */
import { afterAll, assert, beforeAll, expect, it, vi } from "vitest"
import { endAll, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"

let database: TestDatabase
let first: ServerProcess
let second: ServerProcess
let token: string

beforeAll(async () => {
  database = await testDatabase()
  const home = newHome()
  const env = { DATABASE_URL: database.url }
  first = await home.serve([], env)
  second = await newHome().serve([], env)
  token = (await home.cabinet(["token", "add", "Deployment", "--role", "owner", "--get", "token"], env)).stdout.trim()
})
afterAll(async () => {
  await endAll()
  await database.drop()
})

const post = async ({ baseUrl }: ServerProcess, key: string, name: string) => {
  const response = await fetch(`${baseUrl}/manage/v1/keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ name }),
  })
  const json = (await response.json()) as any
  return { status: response.status, code: json.error?.code, id: json.id, key: json.key }
}

const keysNamed = (name: string) => database.run(`SELECT id::int FROM cabinet.api_key WHERE name = '${name}'`)

it("of equal requests sent concurrently to two processes one does the work, and the others get its outcome", async () => {
  for (let round = 0; round < 10; round++) {
    const name = `Raced ${round}`
    const key = `race-${round}`
    const all = await Promise.all(Array.from({ length: 12 }, (_, i) => post(i % 2 === 0 ? first : second, key, name)))
    const kept = await keysNamed(name)
    assert.lengthOf(kept, 1)
    const [acted, ...more] = all.filter(({ status }) => status === 201)
    assert.lengthOf(more, 0)
    assert.strictEqual(acted!.id, kept[0]!["id"])
    for (const { status, code, id, key: secret } of all) {
      if (status === 200) assert.deepStrictEqual([id, secret], [acted!.id, undefined])
      else if (status !== 201) assert.deepStrictEqual([status, code], [409, "in_progress"])
    }
    for (const server of [first, second]) assert.strictEqual((await post(server, key, name)).id, acted!.id)
  }
})

it("after SIGKILL a repeat gets outcome_unknown, and the work was not done", async () => {
  await database.run(`CREATE FUNCTION cabinet.stand_still() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$`)
  await database.run(
    "CREATE TRIGGER stand_still BEFORE INSERT ON cabinet.api_key FOR EACH ROW EXECUTE FUNCTION cabinet.stand_still()",
  )
  const killed = post(first, "killed", "Killed").catch(() => null)
  const open = () => database.run("SELECT response FROM cabinet.idempotency WHERE response IS NULL")
  const sleeping = () =>
    database.run("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'")
  await vi.waitFor(async () => expect((await sleeping()).length).toBe(1), { timeout: 120_000, interval: 50 })
  assert.include(await post(second, "killed", "Killed"), { status: 409, code: "in_progress" })
  await first.stop("SIGKILL")
  assert.isNull(await killed)

  await database.run("UPDATE cabinet.clock SET shift = '61 s'")
  assert.include(await post(second, "killed", "Killed"), { status: 409, code: "outcome_unknown" })
  assert.lengthOf(await open(), 1)
  assert.deepStrictEqual(
    await database.run("SELECT outcome FROM cabinet.audit WHERE action = 'key.issue' ORDER BY id DESC LIMIT 1"),
    [{ outcome: null }],
  )
  await database.run(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'",
  )
  assert.lengthOf(await keysNamed("Killed"), 0)
})
