import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { migrate, migrations } from "@data-cabinet/store-pg/migrations/PgMigrations"
import { Effect } from "effect"
import { assert, it } from "vitest"
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
