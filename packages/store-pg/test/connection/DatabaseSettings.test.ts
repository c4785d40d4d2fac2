/**
 * Settings that an operator gives the database: harmful ones, which would lose or end work, are overridden, and the
 * others are respected.
 */
import { Sources } from "@data-cabinet/core/source/Sources"
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import * as SessionPool from "@data-cabinet/store-pg/connection/SessionPool"
import * as SessionSettings from "@data-cabinet/store-pg/connection/SessionSettings"
import { PgClient } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import { afterEach, assert, expect, it } from "vitest"
import { postgresMajor, withDatabase } from "../../../../test/support/postgres.ts"
import { databaseUrl, runSql, superuser } from "../../../../test/support/postgresAdmin.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const database = withDatabase()
/** From another database, because this one may be read-only. */
const alter = (change: string) =>
  runSql(databaseUrl(database.socketDir, superuser, "postgres"), `ALTER DATABASE ${database.name} ${change}`)
const set = (name: string, value: string) => alter(`SET ${name} = ${value}`)
afterEach(() => alter("RESET ALL"))

const LIMITS = { statementTimeoutMillis: 7_000, lockTimeoutMillis: 1_500 }
const KINDS = {
  owner: SessionSettings.owner,
  ownerShared: SessionSettings.ownerShared,
  reader: SessionSettings.reader(LIMITS),
  readerIsolated: SessionSettings.readerIsolated(LIMITS),
  readerSnapshot: SessionSettings.readerSnapshot(LIMITS),
}

const settingOf = (name: string, settings: SessionSettings.SessionSettings) =>
  PgClient.PgClient.use((sql) => sql.unsafe<{ setting: string }>(`SELECT current_setting('${name}') AS setting`)).pipe(
    Effect.map(([row]) => row!.setting),
    Effect.provide(SessionPool.layer({ url: database.url, settings })),
    Effect.runPromise,
  )

it.each([
  ["off", "on"],
  ["local", "local"],
  ["remote_write", "remote_write"],
  ["on", "on"],
])("an owner's session turns the database's synchronous_commit = %s into %s", async (given, used) => {
  await set("synchronous_commit", given)
  assert.strictEqual(await settingOf("synchronous_commit", KINDS.owner), used)
})

it.each([
  ["DateStyle", "'German, DMY'", "ISO, YMD"],
  ["TimeZone", "'Pacific/Chatham'", "UTC"],
  ["IntervalStyle", "'sql_standard'", "postgres"],
  ["bytea_output", "'escape'", "hex"],
  ["standard_conforming_strings", "off", "on"],
  ["extra_float_digits", "-15", "1"],
  ["search_path", "'public'", null],
  ["statement_timeout", "'3ms'", null],
  ["lock_timeout", "'3ms'", null],
  ["default_transaction_isolation", "'serializable'", null],
  ["client_encoding", "'LATIN1'", "UTF8"],
  ["array_nulls", "off", "on"],
  ["transform_null_equals", "on", "off"],
  ["quote_all_identifiers", "on", "off"],
])("every kind of session reads and writes the same under %s = %s in the database", async (name, given, used) => {
  const own = await settingOf(name, KINDS.owner)
  await set(name, given)
  for (const settings of Object.values(KINDS)) {
    const now = await settingOf(name, settings)
    if (used !== null) assert.strictEqual(now, used)
    else assert.notStrictEqual(now, given.replaceAll("'", ""))
  }
  assert.strictEqual(await settingOf(name, KINDS.owner), own)
})

it("Diagnostics reports synchronous_commit as the database sets it, although its session raises it", async () => {
  await set("synchronous_commit", "off")
  const cabinet = testCabinet(database.url)
  const report = await cabinet.runPromise(Diagnostics.use((diagnostics) => diagnostics.examine))
  await cabinet.dispose()
  assert.strictEqual(report.synchronousCommit, "off")
  // The tests' own server writes without fsync.
  assert.include(report.switchedOff, "fsync")
})

it.each(Object.keys(KINDS) as ReadonlyArray<keyof typeof KINDS>)(
  "a session of kind %s is not ended by the database's time limits",
  async (kind) => {
    await set("idle_session_timeout", "'1s'")
    await set("idle_in_transaction_session_timeout", "'1s'")
    assert.strictEqual(await settingOf("idle_session_timeout", KINDS[kind]), "0")
    assert.notStrictEqual(await settingOf("idle_in_transaction_session_timeout", KINDS[kind]), "1s")
    if (postgresMajor() < 17) return
    await set("transaction_timeout", "'1s'")
    assert.strictEqual(await settingOf("transaction_timeout", KINDS[kind]), "0")
  },
)

it.each(Object.keys(KINDS) as ReadonlyArray<keyof typeof KINDS>)(
  "a session of kind %s gets all rows of an index and outlives an error, whatever the database sets",
  async (kind) => {
    await set("gin_fuzzy_search_limit", "10")
    await set("exit_on_error", "on")
    assert.strictEqual(await settingOf("gin_fuzzy_search_limit", KINDS[kind]), "0")
    assert.strictEqual(await settingOf("exit_on_error", KINDS[kind]), "off")
  },
)

it("a database that is set to read-only is not written to, and the refusal names the setting", async () => {
  await set("default_transaction_read_only", "on")
  const refused = await PgClient.PgClient.use((sql) => sql.unsafe("SELECT 1")).pipe(
    Effect.provide(OwnerClient.layer({ url: database.url })),
    Effect.result,
    Effect.runPromise,
  )
  assert.isTrue(Result.isFailure(refused))
  const cabinet = testCabinet(database.url)
  const create = () => cabinet.runPromise(Effect.result(Sources.use((sources) => sources.create({ name: "Orders" }))))
  expect(await create()).toMatchObject({
    failure: {
      _tag: "StoreUnavailable",
      message: expect.stringMatching(/cannot be used: .*default_transaction_read_only/),
    },
  })
  // Sessions opened meanwhile but not yet used are replaced (see ReplacedSession).
  await alter("RESET default_transaction_read_only")
  expect(await create()).toMatchObject({ _tag: "Success" })
  await cabinet.dispose()
})
