import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { applyMigrations, migrate, migrations } from "@data-cabinet/store-pg/migrations/PgMigrations"
import { Effect, Logger } from "effect"
import { assert, expect, it } from "vitest"
import { testDatabase, withDatabase } from "../../../../test/support/postgres.ts"

const empty = withDatabase({ empty: true })
const current = withDatabase()

const migrateAt = (url: string) => Effect.runPromise(migrate.pipe(Effect.provide(OwnerClient.layer({ url }))))

it("migrate applies each script once when several processes start at the same time", async () => {
  const all = await Effect.runPromise(migrations)
  const runs = await Promise.all(Array.from({ length: 4 }, () => migrateAt(empty.url)))
  assert.strictEqual(runs.flat().length, all.length)
  assert.deepStrictEqual(await migrateAt(empty.url), [])
})

it("a script keeps what it has done while a later one waits for a table, and says which one waits", async () => {
  const database = await testDatabase()
  const later = [
    { number: 9001, name: "sooner", statements: ["ALTER TABLE cabinet.source ADD COLUMN sooner text"] },
    { number: 9002, name: "later", statements: ["ALTER TABLE cabinet.event ADD COLUMN later text"] },
  ]
  const logged: Array<string> = []
  const heard = Logger.make(({ message }) => void logged.push(String(message)))
  const numbers = () =>
    database
      .run("SELECT number FROM cabinet.migration WHERE number > 9000 ORDER BY number")
      .then((rows) => rows.map(({ number }) => number))
  await database.run("CREATE TABLE public.enough ()")
  const reading = database.run(`DO $$ BEGIN
    PERFORM FROM cabinet.event;
    WHILE NOT EXISTS (SELECT FROM public.enough) LOOP PERFORM pg_sleep(0.02); END LOOP;
  END $$`)
  await expect
    .poll(() => database.run("SELECT FROM pg_locks WHERE relation = 'cabinet.event'::regclass AND granted"))
    .toHaveLength(1)
  const migrating = Effect.runPromise(
    Effect.flatMap(migrations, (all) => applyMigrations([...all, ...later])).pipe(
      Effect.provide(OwnerClient.layer({ url: database.url })),
      Effect.provide(Logger.layer([heard])),
    ),
  )
  await expect.poll(() => logged).toHaveLength(1)
  assert.match(logged[0]!, /9002_later waits/)
  assert.deepStrictEqual(await numbers(), [9001])
  await database.run("INSERT INTO public.enough DEFAULT VALUES")
  await reading
  assert.deepStrictEqual(await migrating, ["9001_sooner", "9002_later"])
  await database.drop()
})

it("migrate refuses a database that a newer program has migrated", async () => {
  await current.run("INSERT INTO cabinet.migration (number, name) VALUES (9000, 'tomorrow')")
  const error = await migrateAt(current.url).catch((refused: unknown) => refused)
  assert.match(String((error as Error).message), /newer version/)
})

it.each(["", "INSERT INTO cabinet.migration (number, name) VALUES (2, 'delivery'), (10, 'feed_places')"])(
  "migrate refuses a database of an early development version, and leaves it as it is (%#)",
  async (more) => {
    const old = await testDatabase({ empty: true })
    await old.run("CREATE SCHEMA cabinet AUTHORIZATION cabinet")
    await old.run("CREATE TABLE cabinet.migration (number integer PRIMARY KEY, name text NOT NULL)")
    await old.run("ALTER TABLE cabinet.migration OWNER TO cabinet")
    await old.run("INSERT INTO cabinet.migration (number, name) VALUES (1, 'cabinet')")
    if (more !== "") await old.run(more)
    const error = await migrateAt(old.url).catch((refused: unknown) => refused)
    assert.match(
      String((error as Error).message),
      /development version from before 24 November 2026.*git checkout [0-9a-f]{8}.*cabinet\.event/,
    )
    assert.deepStrictEqual(
      await old.run(
        "SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'cabinet'::regnamespace AND relkind = 'r'",
      ),
      [{ name: "migration" }],
    )
    await old.drop()
  },
)

it.each(["cabinet", "sources"])("migrate refuses a schema %s that another role already created", async (schema) => {
  const database = await testDatabase({ empty: true })
  const role = `early_${database.name}`
  await database.run(`CREATE ROLE ${role}`)
  // Like the author's role: we may use what it owns.
  await database.run(`GRANT ${role} TO cabinet`)
  await database.run(`CREATE SCHEMA ${schema} AUTHORIZATION ${role}`)
  const error = await migrateAt(database.url).catch((refused: unknown) => refused)
  assert.match(String((error as Error).message), new RegExp(`schema ${schema} .* belongs to ${role}`))
  await database.run(`DROP SCHEMA ${schema}`)
  await database.run(`DROP ROLE ${role}`)
  assert.isNotEmpty(await migrateAt(database.url))
  await database.drop()
})

it.each(["cabinet", "sources"])("migrate refuses a complete schema %s that belongs to another role", async (schema) => {
  const database = await testDatabase()
  const role = `whole_${database.name}`
  await database.run(`CREATE ROLE ${role}`)
  await database.run(`GRANT ${role} TO cabinet`)
  await database.run(`ALTER SCHEMA ${schema} OWNER TO ${role}`)
  const error = await migrateAt(database.url).catch((refused: unknown) => refused)
  assert.match(String((error as Error).message), new RegExp(`schema ${schema} .* belongs to ${role}`))
  await database.drop()
})
