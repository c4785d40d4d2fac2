/**
 * The rule for a cabinet's name exists twice, in the program and in the database: both mean the same. The registry belongs
 * to a server and not to a cabinet, so it is tested alone.
 */
import { CABINET_NAME } from "@data-cabinet/core/tenancy/CabinetRegistry"
import { type CabinetDatabase, RegistryStore } from "@data-cabinet/core/tenancy/RegistryStore"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import * as PgRegistryStore from "@data-cabinet/store-pg/tenancy/PgRegistryStore"
import { Effect, Layer, ManagedRuntime } from "effect"
import { expect, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()

it("add reports whether the name or the database is taken", async () => {
  const { url } = database
  const runtime = ManagedRuntime.make(PgRegistryStore.layer({ url }).pipe(Layer.provide(OwnerClient.layer({ url }))))
  const add = (name: string, where: CabinetDatabase) =>
    runtime.runPromise(Effect.flatMap(RegistryStore, (registry) => registry.add(name, where)))
  expect(await add("one", { url: "postgres://a.test/one" })).toMatchObject({ is: "added", cabinet: { name: "one" } })
  expect(await add("one", { url: "postgres://a.test/two" })).toEqual({ is: "name_taken" })
  expect(await add("two", { url: "postgres://a.test/one" })).toEqual({ is: "database_registered" })
  expect(await add("two", { create: database.name })).toEqual({ is: "database_exists" })
  await runtime.dispose()
})

it("the database checks a cabinet's name by the program's own pattern", async () => {
  const checks = await database.run(
    `SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint
     WHERE connamespace = 'cabinet'::regnamespace AND contype = 'c'`,
  )
  expect(checks.map(({ text }) => text).join()).toContain(`'${CABINET_NAME.source}'`)
})
