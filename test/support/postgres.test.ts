import { afterAll, beforeAll, expect, it } from "vitest"
import { testDatabase, type TestDatabase } from "./postgres.ts"

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

it("testDatabase returns a UTF-8 database of the owner, over a unix socket", async () => {
  const [row] = await database.run(
    `SELECT pg_encoding_to_char(encoding) AS encoding, datcollate AS collation, pg_get_userbyid(datdba) AS owner,
            inet_server_addr() IS NULL AS socket
     FROM pg_database WHERE datname = current_database()`,
  )
  expect(row).toEqual({ encoding: "UTF8", collation: "C", owner: "cabinet", socket: true })
})
