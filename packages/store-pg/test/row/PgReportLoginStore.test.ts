import { ReportLogin } from "@data-cabinet/core/row/ReportLogin"
import { ReportLoginStore } from "@data-cabinet/core/row/ReportLoginStore"
import { SchemaGrants } from "@data-cabinet/core/row/SchemaGrants"
import { endReportSessions } from "@data-cabinet/store-pg/maintenance/ReportSessions"
import { repeatReportGrants } from "@data-cabinet/store-pg/migrations/ReportsRole"
import { urlOf } from "@data-cabinet/store-pg/row/PgReportLoginStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { runSql } from "../../../../test/support/postgresAdmin.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const database = withDatabase()
let runtime: ReturnType<typeof testCabinet>
let role: string
beforeAll(async () => {
  runtime = testCabinet(database.url, { settings: { reading: "on" } })
  role = (await runtime.runPromise(ReportLoginStore.use((store) => store.read))).role
  await runSql(database.url, "CREATE TABLE sources.orders (id int)")
  await runSql(database.url, "INSERT INTO sources.orders VALUES (1)")
})
afterAll(() => runtime.dispose())

const issue = () =>
  runtime.runPromise(
    ReportLoginStore.use((store) => store.issue).pipe(
      Effect.map((outcome) => (outcome.is === "done" ? outcome.value.password : expect.fail(outcome.is))),
    ),
  )

/** The test server's URL for the role. */
const asRole = (password: string): string => {
  const url = new URL(database.url)
  url.username = role
  url.password = password
  return url.toString()
}

const read = (password: string, statement: string) =>
  runSql(asRole(password), statement).then(
    () => null,
    (error: Error) => String((error as { reason?: { cause?: Error } }).reason?.cause?.message ?? error.message),
  )

it("the role cannot log in before its password is issued, then reads the same as the reader", async () => {
  expect(await runtime.runPromise(ReportLogin.use((login) => login.get))).toMatchObject({
    role: `cabinet_${database.name}_reports`,
    active: false,
    sessions: 0,
    maxSessions: 5,
  })
  const password = await issue()
  expect(await read(password, "SELECT * FROM sources.orders")).toBeNull()
  await runSql(database.url, "CREATE TABLE sources.later (id int)")
  expect(await read(password, "SELECT * FROM sources.later")).toBeNull()
  expect(await read(password, "SELECT * FROM cabinet.event")).toMatch(/permission denied for schema cabinet/)
  const stored = await database.run("SELECT * FROM cabinet.role_password")
  expect(JSON.stringify(stored)).not.toContain(password)
  expect(await runtime.runPromise(ReportLogin.use((login) => login.get))).toMatchObject({ active: true })
})

it("the role follows the reader's grants and revocations, and those of other roles once repeated", async () => {
  await runSql(database.url, "CREATE SCHEMA stock")
  await runSql(database.url, "CREATE TABLE stock.old (id int)")
  await runtime.runPromise(SchemaGrants.use((grants) => grants.expose("stock")))
  const password = await issue()
  expect(await read(password, "SELECT * FROM stock.old")).toBeNull()
  await runSql(database.url, "CREATE TABLE stock.later (id int)")
  expect(await read(password, "SELECT * FROM stock.later")).toBeNull()
  await runtime.runPromise(SchemaGrants.use((grants) => grants.hide("stock")))
  expect(await read(password, "SELECT * FROM stock.old")).toMatch(/permission denied for schema stock/)

  const reader = `"cabinet_${database.name}_reader"`
  await runSql(database.url, `GRANT USAGE ON SCHEMA stock TO ${reader}`)
  await runSql(database.url, `GRANT SELECT ON stock.old TO ${reader}`)
  expect(await read(password, "SELECT * FROM stock.old")).toMatch(/permission denied/)
  await runtime.runPromise(repeatReportGrants)
  expect(await read(password, "SELECT * FROM stock.old")).toBeNull()
  expect(await read(password, "SELECT * FROM stock.later")).toMatch(/permission denied/)
})

/** Whether the session that ran these statements survives the check. */
const stands = async (
  statements: ReadonlyArray<string>,
  bounds: Parameters<typeof endReportSessions>[0],
  as: string | null = null,
) => {
  const url = Redacted.make(as ?? asRole(await issue()))
  return Effect.gen(function* () {
    const session = yield* (yield* PgClient.PgClient).reserve
    for (const statement of statements) yield* session.executeUnprepared(statement, [], undefined)
    yield* Effect.promise(() => runtime.runPromise(endReportSessions(bounds)))
    return yield* Effect.match(session.executeUnprepared("SELECT 1", [], undefined), {
      onSuccess: () => true,
      onFailure: () => false,
    })
  }).pipe(Effect.scoped, Effect.provide(PgClient.layer({ url, maxConnections: 1 })), Effect.runPromise)
}

it.each([
  ["an advisory lock", ["SELECT pg_advisory_lock(1)"], {}, false],
  ["an abandoned transaction", ["BEGIN", "SELECT 1"], { idleSeconds: 0 }, false],
  ["a transaction that was just begun", ["BEGIN", "SELECT 1"], {}, true],
  ["a long transaction", ["BEGIN", "SELECT 1"], { transactionSeconds: 0 }, false],
  ["a queue of notifications that fills up", ["LISTEN mine"], { queueUsage: -1 }, false],
  ["a session between two queries", ["SELECT 1"], { idleSeconds: 0, transactionSeconds: 0 }, true],
])("endReportSessions and %s", async (_, statements, bounds, left) => {
  expect(await stands(statements, bounds)).toBe(left)
})

it("endReportSessions leaves the sessions of others alone", async () => {
  const bounds = { idleSeconds: 0, transactionSeconds: 0, queueUsage: -1 }
  expect(await stands(["BEGIN", "SELECT pg_advisory_lock(2)"], bounds, database.url)).toBe(true)
})

it.each([
  [
    "postgres://a:b@db.example.com:5433/shop?sslmode=verify-full&sslrootcert=%2Fca",
    "postgres://r@db.example.com:5433/shop?sslmode=verify-full",
  ],
  ["postgres://a@localhost:5432/shop?host=%2Fsocket", null],
])("urlOf %s without a port of its own is %s", (url, expected) => {
  expect(urlOf(url, "r", { addresses: "", port: 5432 })).toBe(expected)
})

it("urlOf returns the loopback address for a socket whose server listens on TCP", () => {
  expect(urlOf("postgres://a@localhost:5432/shop?host=%2Fsocket", "r", { addresses: "127.0.0.1", port: 5544 })).toBe(
    "postgres://r@127.0.0.1:5544/shop",
  )
})

it("rights that PostgreSQL grants to every role are named with the statement that revokes them, until it has run", async () => {
  const beyond = async () => (await runtime.runPromise(ReportLogin.use((login) => login.get))).beyond
  const rights = (await beyond()).map(({ right }) => right)
  expect(rights).toContain("write large objects")
  expect(rights).toContain("take advisory locks, which use up the table of locks that all sessions share")
  expect(rights).not.toContain("create temporary tables")
  await database.run(`GRANT TEMPORARY ON DATABASE "${database.name}" TO PUBLIC`)
  await database.run("GRANT CREATE ON SCHEMA public TO PUBLIC")
  const found = (await beyond()).filter(({ right }) => /temporary tables|objects in schema/.test(right))
  expect(found.map(({ right }) => right)).toEqual(["create temporary tables", "create objects in schema public"])
  for (const { remedy } of found) await database.run(remedy)
  // Only this database's functions; those of other databases do not concern it.
  for (const { remedy } of (await beyond()).filter((one) => one.remedy.includes("FUNCTION"))) await database.run(remedy)
  expect(
    (await beyond()).map(({ right }) => right).filter((right) => !/log in to|temporary files/.test(right)),
  ).toEqual([])
})
