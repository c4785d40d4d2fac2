import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { migrate, migrations } from "@data-cabinet/store-pg/migrations/PgMigrations"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { testDatabase, type TestDatabase } from "../../../../test/support/postgres.ts"

let empty: TestDatabase
let current: TestDatabase
beforeAll(async () => {
  empty = await testDatabase({ empty: true })
  current = await testDatabase()
})
afterAll(async () => {
  await empty.drop()
  await current.drop()
})

const migrateAt = (url: string) => Effect.runPromise(migrate.pipe(Effect.provide(OwnerClient.layer({ url }))))

it("migrate applies each script once when several processes start at the same moment", async () => {
  const all = await Effect.runPromise(migrations)
  const runs = await Promise.all(Array.from({ length: 4 }, () => migrateAt(empty.url)))
  assert.strictEqual(runs.flat().length, all.length)
  assert.deepStrictEqual(await migrateAt(empty.url), [])
})

it("migrate refuses a database that a newer program has been at", async () => {
  await current.run("INSERT INTO cabinet.migration (number, name) VALUES (9000, 'tomorrow')")
  const error = await migrateAt(current.url).catch((error: unknown) => error)
  assert.match(String((error as Error).message), /newer version/)
})
