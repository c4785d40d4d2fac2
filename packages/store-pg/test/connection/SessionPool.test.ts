/**
 * No session is used without the settings that its kind requires, even behind a pooler that silently drops them, and if
 * the database and the role have other settings. The clients are tested alone, without a cabinet.
 */
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { readdirSync, readFileSync } from "node:fs"
import { runScript } from "@data-cabinet/store-pg/connection/AuthorSession"
import { type PageQuery, RowReader } from "@data-cabinet/core/row/RowReader"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import * as ReaderClient from "@data-cabinet/store-pg/connection/ReaderClient"
import * as SessionPool from "@data-cabinet/store-pg/connection/SessionPool"
import * as SessionSettings from "@data-cabinet/store-pg/connection/SessionSettings"
import { sqlMessage } from "@data-cabinet/store-pg/connection/StoreFailure"
import * as PgRowReader from "@data-cabinet/store-pg/row/PgRowReader"
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Layer, Option, Queue, Scope } from "effect"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { tableOf } from "../../../core/test/selection/tables.ts"
import { type ForgetfulPooler, forgetfulPooler } from "../../../../test/support/forgetfulPooler.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let pooler: ForgetfulPooler
let reader: string
const LIMITS = { statementTimeoutMillis: 7_000, lockTimeoutMillis: 1_500 }

/** Settings that all contradict what a cabinet needs. */
const ODD = {
  extra_float_digits: "0",
  TimeZone: "Asia/Tokyo",
  DateStyle: "SQL, DMY",
  IntervalStyle: "sql_standard",
  bytea_output: "escape",
  xmlbinary: "hex",
  transform_null_equals: "on",
  default_transaction_isolation: "serializable",
  synchronous_commit: "off",
  idle_session_timeout: "4321",
  statement_timeout: "1234",
  search_path: "public",
}

beforeAll(async () => {
  reader = `${database.name}_reader`
  await database.run(`CREATE ROLE ${reader} LOGIN`)
  await database.run("CREATE TABLE public.measure AS SELECT 0.1::float8 + 0.2::float8 AS value")
  await database.run("GRANT SELECT ON public.measure TO PUBLIC")
  for (const [name, value] of Object.entries(ODD)) {
    const list = name === "search_path" ? value : `'${value}'`
    for (const role of ["cabinet", reader]) {
      await database.run(`ALTER ROLE ${role} IN DATABASE ${database.name} SET ${name} = ${list}`)
    }
  }
  pooler = await forgetfulPooler(database.socketDir)
})
afterAll(() => {
  pooler.close()
})

type Settings = Record<string, string>

const SHOW = "SELECT name, setting FROM pg_catalog.pg_settings"

const asRecord = (rows: ReadonlyArray<{ name: string; setting: string }>): Settings =>
  Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))

const settingsOf = (options: Pick<SessionPool.SessionPoolOptions, "url" | "settings" | "multiplex">) =>
  PgClient.PgClient.use((sql) => sql.unsafe<{ name: string; setting: string }>(SHOW)).pipe(
    Effect.map(asRecord),
    Effect.provide(SessionPool.layer(options)),
    Effect.runPromise,
  )

it.each([
  ["owner", SessionSettings.owner, false],
  ["ownerShared", SessionSettings.ownerShared, true],
  ["reader", SessionSettings.reader(LIMITS), false],
  ["readerIsolated", SessionSettings.readerIsolated(LIMITS), false],
  ["author", SessionSettings.author, false],
  ["short", SessionSettings.short(2_000), false],
  ["unlimited", SessionSettings.unlimited, false],
] as const)(
  "a session of the kind %s has its settings, also behind a pooler that drops them",
  async (_, settings, multiplex) => {
    const { set, found = {} } = settings
    const before = pooler.dropped.length
    // A socket lacks the others, which are sent in the same way.
    const asked = Object.entries({ ...set, ...found }).filter(([name]) => !SessionSettings.UNVERIFIED.includes(name))
    for (const url of [database.url, pooler.through(database.url)]) {
      assert.deepInclude(await settingsOf({ url, settings, multiplex }), Object.fromEntries(asked))
    }
    assert.includeMembers(
      [...pooler.dropped[before]!],
      Object.keys(set).map((name) => name.toLowerCase()),
    )
  },
)

it("the owner's and the reader's pools keep all digits of numbers through such a pooler", async () => {
  const statement = "SELECT value::text AS value FROM public.measure"
  const values = await Effect.gen(function* () {
    const { sessions } = yield* ReaderClient.ReaderClient
    const { shared, isolated } = Option.getOrThrow(sessions)
    return [
      ...(yield* (yield* PgClient.PgClient).unsafe<{ value: string }>(statement)),
      ...(yield* OwnerClient.StatementClient.use((sql) => sql.unsafe<{ value: string }>(statement))),
      ...(yield* fromCall((call) => shared.acquire(call)).pipe(
        Effect.flatMap(({ session }) => Effect.map(session.query(statement), ({ rows }) => rows)),
      )),
      ...(yield* isolated.use((session) => Effect.map(session.query(statement), ({ rows }) => rows))),
    ]
  }).pipe(
    Effect.provide(
      Layer.merge(
        OwnerClient.layer({ url: pooler.through(database.url) }),
        ReaderClient.layer({ url: pooler.through(database.urlAs(reader)), role: reader }),
      ),
    ),
    Effect.runPromise,
  )
  assert.deepStrictEqual(
    values.map((row) => row["value" as keyof typeof row]),
    Array.from({ length: 4 }, () => "0.30000000000000004"),
  )
  const url = pooler.through(database.url)
  const [outcome] = await Effect.runPromise(
    runScript({ url, script: "SELECT value FROM public.measure", transaction: true }),
  )
  assert.deepStrictEqual(outcome!.rows, ['{"value":0.30000000000000004}'])
})

it("a session whose settings a RESET would change is closed after a read in which a customer's functions ran", async () => {
  const table = tableOf({ digits: "text", pid: "text" })
  const query: PageQuery = {
    table,
    text: `SELECT pg_catalog.current_setting('extra_float_digits') AS "c0", pg_catalog.pg_backend_pid()::text AS "c1"`,
    values: [],
    shown: table.columns,
    position: [],
    limit: 1,
    runsNoUserCode: false,
    compared: { filters: [], period: null, sort: null },
    replan: false,
  }
  const read = (url: string) =>
    RowReader.use((rows) => Effect.all([1, 2].map(() => fromCall((call) => rows.read(query, call))))).pipe(
      Effect.map((found) => found.map(({ items }) => JSON.parse(items.texts()[0]!))),
      Effect.provide(
        PgRowReader.layer.pipe(
          Layer.provide(ReaderClient.layer({ url, role: reader, maxConnections: 1 })),
          Layer.provide(OwnerClient.layer({ url: database.url })),
        ),
      ),
      Effect.runPromise,
    )
  const [first, second] = await read(pooler.through(database.urlAs(reader)))
  assert.deepStrictEqual([first.digits, second.digits], ["1", "1"])
  assert.notStrictEqual(first.pid, second.pid)
  // If nothing was dropped, resetting it is enough.
  const [one, other] = await read(database.urlAs(reader))
  assert.deepStrictEqual(one, other)
})

it("a session whose settings cannot be corrected is refused with a message, and used for nothing", async () => {
  await database.run(`ALTER ROLE cabinet IN DATABASE ${database.name} SET session_replication_role = 'replica'`)
  const use = PgClient.PgClient.use((sql) => sql.unsafe("CREATE TABLE public.never ()")).pipe(
    Effect.provide(OwnerClient.layer({ url: database.url })),
  )
  const error = await Effect.runPromise(Effect.flip(use))
  assert.match(sqlMessage(error), /session_replication_role is "replica" instead of "origin"/)
  await database.run(`ALTER ROLE cabinet IN DATABASE ${database.name} RESET session_replication_role`)
  assert.lengthOf(await database.run("SELECT FROM pg_class WHERE relname = 'never'"), 0)
  await Effect.runPromise(use)
})

it("all listeners share one session, which goes back to the pool after the last of them", async () => {
  const layer = SessionPool.layer({ url: database.url, settings: SessionSettings.owner, maxConnections: 2 })
  const listening = () =>
    database.run("SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'")
  const heard = await Effect.runPromise(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const scopes = [yield* Scope.make(), yield* Scope.make(), yield* Scope.make()]
      const queues = yield* Effect.forEach(["first", "second", "second"], (channel, n) =>
        Scope.provide(sql.listen(channel), scopes[n]!),
      )
      assert.lengthOf(yield* Effect.promise(listening), 1)
      // The other session is free for a transaction.
      yield* sql.withTransaction(sql.unsafe("SELECT pg_notify('second', 'a')"))
      yield* Scope.close(scopes[1]!, Exit.void)
      yield* sql.notify("second", "b")
      yield* sql.notify("first", "c")
      const last = [yield* Queue.take(queues[2]!), yield* Queue.take(queues[2]!), yield* Queue.take(queues[0]!)]
      yield* Effect.forEach([scopes[0]!, scopes[2]!], (scope) => Scope.close(scope, Exit.void))
      yield* Effect.promise(() => expect.poll(listening).toHaveLength(0))
      return last.map(({ payload }) => payload)
    }).pipe(Effect.provide(layer), Effect.scoped),
  )
  assert.deepStrictEqual(heard, ["a", "b", "c"])
})

it("no other code opens a session", () => {
  const sources = new URL("../../src/", import.meta.url)
  const opening = readdirSync(sources, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .filter((file) =>
      /\bPg(Client|Pool|Connection)\.(layer|make)\w*\(/.test(readFileSync(new URL(file, sources), "utf8")),
    )
  // The probe sends one query that no setting can affect, and closes its session.
  assert.deepStrictEqual(opening, ["connection/HostProbe.ts", "connection/SessionPool.ts"])
})
