import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Refusal, refusingServer } from "../../../../test/support/refusingServer.ts"
import { failureReport, failureWords, isTemporary } from "../../src/connection/FailureWords.ts"
import * as OwnerClient from "../../src/connection/OwnerClient.ts"
import { orUnavailable } from "../../src/connection/StoreFailure.ts"

let server: Awaited<ReturnType<typeof refusingServer>>
let refusal: Refusal
beforeAll(async () => {
  server = await refusingServer(() => refusal)
})
afterAll(() => server.close())

const asked = (url: string) =>
  PgClient.PgClient.use((sql) => sql`SELECT 1`).pipe(Effect.provide(OwnerClient.layer({ url }), { local: true }))

const refusedWith = (code: string, message: string): Promise<SqlError.SqlError> => {
  refusal = { code, message }
  return Effect.runPromise(Effect.flip(asked(server.url)))
}

it.each([
  ["53100", 'could not extend file "base/5/1": No space left on device', /^its disk is full$/, false],
  ["53300", "sorry, too many clients already", /^it accepts no more connections$/, true],
  ["57P03", "the database system is starting up", /^it is starting up/, true],
  ["57P01", "terminating connection due to administrator command", /^it is shutting down$/, true],
  ["28P01", 'password authentication failed for user "nobody"', /^it rejects the login$/, false],
  ["3D000", 'database "cabinet" does not exist', /^it does not exist$/, false],
  ["08P01", "unsupported startup parameter: jit", /^the connection pooler refuses sessions/, false],
  [
    "08P01",
    "no more connections allowed (max_client_conn)",
    /^the connection pooler accepts no more connections$/,
    true,
  ],
  ["08P01", "server login has been failing, try again later", /^the connection pooler cannot connect to it$/, true],
  ["08P01", "no such database: cabinet", /^the connection pooler does not know the database$/, false],
])("failureWords and isTemporary classify %s, %s", async (code, message, words, passes) => {
  const error = await refusedWith(code, message)
  expect(failureWords(error)).toMatch(words)
  expect(failureReport(error)).toContain(message)
  expect(isTemporary(error)).toBe(passes)
})

it("isTemporary is true if no server listens or the name or socket does not exist, and false for a wrong URL", async () => {
  const passes = async (url: string) => isTemporary(await Effect.runPromise(Effect.flip(asked(url))))
  expect(await passes("postgres://nobody@127.0.0.1:9/cabinet")).toBe(true)
  expect(await passes("postgres://nobody@no-such-host.invalid/cabinet")).toBe(true)
  expect(await passes("postgres://nobody@%2Fnowhere%2Fat%2Fall/cabinet")).toBe(true)
  expect(await passes("mysql://nobody@127.0.0.1/cabinet")).toBe(false)
})

it("orUnavailable names the database's state to callers, and nothing internal", async () => {
  refusal = { code: "53100", message: 'could not extend file "base/5/1" for nobody' }
  const error = await Effect.runPromise(Effect.flip(orUnavailable(asked(server.url))))
  expect(error.message).toBe("The database cannot be used: its disk is full.")
})
