import { Catalog } from "@data-cabinet/core/row/Catalog"
import { SchemaGrants } from "@data-cabinet/core/row/SchemaGrants"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { runSql } from "../../../../test/support/postgresAdmin.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const database = withDatabase()
let runtime: ReturnType<typeof testCabinet>

beforeAll(async () => {
  runtime = testCabinet(database.url, { settings: { reading: "on" } })
  await database.run("CREATE SCHEMA stock AUTHORIZATION cabinet")
  await database.run("CREATE TABLE stock.old (a int)")
  await database.run("ALTER TABLE stock.old OWNER TO cabinet")
  await database.run("CREATE SCHEMA theirs")
  await database.run("CREATE TABLE theirs.secret (a int)")
})
afterAll(() => runtime.dispose())

const expose = (schema: string) => runtime.runPromise(SchemaGrants.use((grants) => grants.expose(schema)))
const hide = (schema: string) => runtime.runPromise(SchemaGrants.use((grants) => grants.hide(schema)))
const readable = async () => {
  const tables = await runtime.runPromise(Catalog.use((catalog) => catalog.list))
  return tables.map(({ schema, name }) => `${schema}.${name}`)
}

it("expose grants access to the objects of a schema, present and future; hide revokes it", async () => {
  expect(await readable()).toEqual([])
  expect(await expose("stock")).toEqual({ objects: 1 })
  expect(await readable()).toEqual(["stock.old"])
  await runSql(database.url, "CREATE TABLE stock.later (a int)")
  expect(await readable()).toEqual(["stock.later", "stock.old"])
  expect(await hide("stock")).toEqual({ objects: 0 })
  expect(await readable()).toEqual([])
})

it.each(["cabinet", "sources", "pg_catalog", "information_schema"])("expose refuses the schema %s", async (schema) => {
  await expect(expose(schema)).rejects.toMatchObject({ code: "not_for_readers" })
})

it("expose refuses an unknown schema, and says what another schema's owner has to run", async () => {
  await expect(expose("nowhere")).rejects.toMatchObject({ code: "no_such_schema" })
  await expect(expose(`a"; DROP TABLE x`)).rejects.toMatchObject({ code: "no_such_schema" })
  await expect(expose("theirs")).rejects.toMatchObject({
    code: "no_right",
    message: expect.stringMatching(/GRANT USAGE ON SCHEMA "theirs" TO "cabinet_.*_reader"/),
  })
  expect(await readable()).toEqual([])
})
