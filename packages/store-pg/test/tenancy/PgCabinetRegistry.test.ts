/** What a cabinet may be called is said twice, to the program and to the database: both mean the same. */
import { CABINET_NAME } from "@data-cabinet/core/tenancy/CabinetRegistry"
import { expect, it } from "vitest"
import { testDatabase } from "../../../../test/support/postgres.ts"

it("the database checks a cabinet's name by the program's own pattern", async () => {
  const database = await testDatabase()
  const checks = await database.run(
    `SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint
     WHERE connamespace = 'cabinet'::regnamespace AND contype = 'c'`,
  )
  await database.drop()
  expect(checks.map(({ text }) => text).join()).toContain(`'${CABINET_NAME.source}'`)
})
