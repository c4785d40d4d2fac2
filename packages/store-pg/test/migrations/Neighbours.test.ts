/** Cabinets on one PostgreSQL: whose roles can log in to which database, and what access an author can keep. */
import { CabinetRegistry } from "@data-cabinet/core/tenancy/CabinetRegistry"
import * as PgRegistryStore from "@data-cabinet/store-pg/tenancy/PgRegistryStore"
import { runScript } from "@data-cabinet/store-pg/connection/AuthorSession"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { ensureRoles, type Roles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { Effect, Layer } from "effect"
import { assert, beforeAll, it } from "vitest"
import { runSql } from "../../../../test/support/postgresAdmin.ts"
import { type TestDatabase, withDatabase } from "../../../../test/support/postgres.ts"

const mine = withDatabase()
const theirs = withDatabase()
let roles: Roles

const rolesOf = (database: TestDatabase) =>
  Effect.runPromise(
    ensureRoles({ url: database.url }).pipe(Effect.provide(Layer.fresh(OwnerClient.layer({ url: database.url })))),
  )

beforeAll(async () => {
  roles = await rolesOf(mine)
  await rolesOf(theirs)
})

const refusal = async (answer: Promise<unknown>): Promise<string> => {
  const error: unknown = await answer.then(
    () => assert.fail("it was let in"),
    (refused: unknown) => refused,
  )
  return String((error as { reason?: { cause?: unknown } }).reason?.cause ?? error)
}

it("no role of one cabinet can log in to another's database", async () => {
  for (const { role } of [roles.reader, roles.author]) {
    assert.deepStrictEqual(await runSql(mine.urlAs(role), "SELECT 1 AS one"), [{ one: 1 }])
    assert.match(await refusal(runSql(theirs.urlAs(role), "SELECT 1")), /permission denied for database/)
  }
})

it("a database created for a cabinet is closed to others from the start", async () => {
  const name = `n${process.pid}`
  const registry = CabinetRegistry.layer.pipe(
    Layer.provide(PgRegistryStore.layer({ url: mine.url })),
    Layer.provide(OwnerClient.layer({ url: mine.url })),
  )
  const added = await Effect.runPromise(
    CabinetRegistry.use((cabinets) => cabinets.add(name, null)).pipe(Effect.provide(registry)),
  )
  try {
    const url = mine.urlAs(roles.author.role).replace(`/${mine.name}`, `/${added.madeDatabase}`)
    assert.match(await refusal(runSql(url, "SELECT 1")), /permission denied for database/)
  } finally {
    await mine.run(`DROP DATABASE ${added.madeDatabase} WITH (FORCE)`)
  }
})

it("a password that the author sets for itself is replaced at the next script, and valid for at most a minute", async () => {
  if (!roles.author.there) return assert.fail(roles.author.reason)
  const { author } = roles
  const stored = async () =>
    (
      await mine.run(
        `SELECT rolpassword, rolvaliduntil < clock_timestamp() + interval '61 seconds' AS soon, rolconnlimit > 0 AS bound
         FROM pg_authid WHERE rolname = '${author.role}'`,
      )
    )[0]!
  const script = (text: string) => Effect.runPromise(runScript({ ...author, script: text, transaction: true }))
  await script(`ALTER ROLE ${author.role} PASSWORD 'of my own'`)
  const own = await stored()
  await script("SELECT 1")
  const after = await stored()
  assert.notStrictEqual(after["rolpassword"], own["rolpassword"])
  assert.deepInclude(after, { soon: true, bound: true })
  assert.match(
    await refusal(script(`ALTER ROLE ${author.role} VALID UNTIL 'infinity'`)),
    /permission denied|must have|CREATEROLE/,
  )
  assert.match(await refusal(script(`ALTER ROLE ${author.role} CONNECTION LIMIT -1`)), /permission denied|must have/)
})

it("concurrent scripts of several processes can all log in", async () => {
  if (!roles.author.there) return assert.fail(roles.author.reason)
  const { author } = roles
  const all = await Promise.all(
    Array.from({ length: 6 }, () => Effect.runPromise(runScript({ ...author, script: "SELECT 1", transaction: true }))),
  )
  assert.lengthOf(all, 6)
})

it("the author may create temporary tables, and the reader may not", async () => {
  await runSql(mine.urlAs(roles.author.role), "CREATE TEMP TABLE t (a int)")
  const url = mine.urlAs(roles.reader.role)
  assert.match(await refusal(runSql(url, "CREATE TEMP TABLE t (a int)")), /permission denied to create temporary/)
})
