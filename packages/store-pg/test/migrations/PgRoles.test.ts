import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { SchemaGrantStore } from "@data-cabinet/core/row/SchemaGrantStore"
import { ensureRoles, type Roles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { RIGHTS_ARE_COMPLETE } from "@data-cabinet/store-pg/migrations/RightsStatement"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { assert, beforeAll, describe, it } from "vitest"
import { ownerRole } from "../../../../test/support/postgresAdmin.ts"
import { testDatabase, withDatabase } from "../../../../test/support/postgres.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const database = withDatabase()
let roles: Roles
beforeAll(async () => {
  const cabinet = testCabinet(database.url)
  roles = await cabinet.runPromise(ensureRoles({ url: database.url }))
  await cabinet.runPromise(ApiKeys.use((keys) => keys.issue("secret")))
  await cabinet.dispose()
})

const urlOf = (kind: "reader" | "author"): string => {
  const login = roles[kind]
  return login.there ? login.url : assert.fail(login.reason)
}

/**
 * Runs statements one after the other in one session of a role; returns the last one's rows, or PostgreSQL's refusal.
 */
const as = (kind: "reader" | "author", ...statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const connection = yield* (yield* PgClient.PgClient).reserve
    let rows: ReadonlyArray<unknown> = []
    for (const statement of statements) rows = yield* connection.execute(statement, [], undefined)
    return rows
  }).pipe(
    Effect.scoped,
    Effect.catchTag("SqlError", (error) => Effect.succeed(String((error.reason.cause as Error).message))),
    Effect.provide(PgClient.layer({ url: Redacted.make(urlOf(kind)), maxConnections: 1 })),
    Effect.runPromise,
  )

it("ensureRoles may run repeatedly and concurrently", async () => {
  const owner = OwnerClient.layer({ url: database.url })
  const again = await Promise.all(
    [1, 2, 3].map(() => Effect.runPromise(ensureRoles({ url: database.url }).pipe(Effect.provide(Layer.fresh(owner))))),
  )
  for (const each of again) assert.deepStrictEqual(each, roles)
})

const ensure = (url = database.url) =>
  Effect.runPromise(
    ensureRoles({ url }).pipe(Effect.provide(Layer.fresh(OwnerClient.layer({ url, maxConnections: 2 })))),
  )
const stand = () =>
  Effect.runPromise(
    PgClient.PgClient.use((sql) => sql.unsafe(RIGHTS_ARE_COMPLETE, [roles.reader.role, roles.author.role])).pipe(
      Effect.provide(OwnerClient.layer({ url: database.url, maxConnections: 1 })),
    ),
  ).then((rows) => rows.length === 1)
/** Refuses each statement that grants or revokes unless a session holds the lock on roles; run as the superuser. */
const REFUSE_UNLOCKED = [
  `CREATE FUNCTION public.refuse_unlocked() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_catalog.pg_locks WHERE relation = 'cabinet.job_lock'::regclass AND mode = 'RowShareLock')
      THEN RAISE '% outside the lock of roles', tg_tag; END IF;
    END $$`,
  `CREATE EVENT TRIGGER refuse_unlocked ON ddl_command_start
    WHEN TAG IN ('GRANT', 'REVOKE', 'ALTER DEFAULT PRIVILEGES') EXECUTE FUNCTION public.refuse_unlocked()`,
]

it("grants and default privileges change only under the lock on roles, since PostgreSQL rejects concurrent changes", async () => {
  const fresh = await testDatabase()
  for (const statement of REFUSE_UNLOCKED) await fresh.run(statement)
  await ensure(fresh.url)
  const cabinet = testCabinet(fresh.url, { settings: { reading: "on" } })
  for (const change of ["expose", "hide"] as const) {
    const { is } = await cabinet.runPromise(SchemaGrantStore.use((grants) => grants.change(change, "public")))
    assert.strictEqual(is, "changed")
  }
  await cabinet.dispose()
  await fresh.drop()
})

/** A role's catalog row, which any statement about it rewrites. */
const versions = () =>
  database.run(`SELECT xmin::text FROM pg_authid WHERE rolname LIKE 'cabinet\\_${database.name}\\_%'`)

it("ensureRoles writes nothing when nothing has changed", async () => {
  const before = await versions()
  assert.strictEqual(before.length, 3)
  assert.deepStrictEqual(await ensure(), roles)
  assert.deepStrictEqual(await versions(), before)
})

it.each([
  ["the reader may not log in", "ALTER ROLE READER NOLOGIN"],
  ["the reader inherits", "ALTER ROLE READER INHERIT"],
  ["the author may not log in", "ALTER ROLE AUTHOR NOLOGIN"],
  ["the author may make nothing in public", "REVOKE CREATE ON SCHEMA public FROM AUTHOR"],
  ["the author may create schemas and extensions", "GRANT CREATE ON DATABASE DATABASE_ TO AUTHOR"],
  ["the reader may open any number of sessions", "ALTER ROLE READER CONNECTION LIMIT -1"],
  ["the reader sees no source", "REVOKE USAGE ON SCHEMA sources FROM READER"],
  ["the reader reads one table less", "REVOKE SELECT ON sources.kept FROM READER"],
  ["the author reads one table less", "REVOKE SELECT ON sources.kept FROM AUTHOR"],
  [
    "the reader will not read the next table",
    "ALTER DEFAULT PRIVILEGES FOR ROLE OWNER IN SCHEMA sources REVOKE SELECT ON TABLES FROM READER",
  ],
  [
    "the reader will not read what the author makes",
    "ALTER DEFAULT PRIVILEGES FOR ROLE AUTHOR REVOKE SELECT ON TABLES FROM READER",
  ],
  ["everybody may log in", "GRANT CONNECT ON DATABASE DATABASE_ TO PUBLIC"],
  ["the author's login holds for good", "ALTER ROLE AUTHOR VALID UNTIL 'infinity'"],
  ["the author may open any number of sessions", "ALTER ROLE AUTHOR CONNECTION LIMIT -1"],
  ["the password kept is not there", "DELETE FROM cabinet.role_password WHERE role LIKE '%reader'"],
])("ensureRoles repairs that %s", async (_, damage) => {
  await database.run("CREATE TABLE IF NOT EXISTS sources.kept (n int)")
  await database.run(`ALTER TABLE sources.kept OWNER TO ${ownerRole}`)
  await ensure()
  assert.isTrue(await stand())
  const names = { READER: roles.reader.role, AUTHOR: roles.author.role, OWNER: ownerRole, DATABASE_: database.name }
  await database.run(
    damage.replace(/\b(?:READER|AUTHOR|OWNER|DATABASE_)\b/g, (word) => names[word as keyof typeof names]),
  )
  const isOfRights = !damage.startsWith("DELETE")
  assert.strictEqual(await stand(), !isOfRights)
  const again = await ensure()
  assert.isTrue(again.reader.there && again.author.there)
  assert.isTrue(await stand())
  roles = again
})

describe("the author", () => {
  it("creates tables and views in public and in schemas added for it, which the reader can read", async () => {
    await database.run(`CREATE SCHEMA shop AUTHORIZATION "${roles.author.role}"`)
    await as(
      "author",
      "CREATE TABLE shop.item (id int PRIMARY KEY, name text)",
      "INSERT INTO shop.item VALUES (1, 'lamp')",
      "CREATE VIEW public.items AS SELECT name FROM shop.item",
    )
    assert.deepStrictEqual(await as("reader", "SELECT name FROM public.items"), [{ name: "lamp" }])
    assert.deepStrictEqual(await as("reader", "SELECT name FROM shop.item"), [{ name: "lamp" }])
  })

  it("adds no extension to any schema, and drops none of the owner's", async () => {
    for (const schema of ["public", "sources", "cabinet", "pg_catalog", "shop"]) {
      assert.match(String(await as("author", `CREATE EXTENSION hstore SCHEMA ${schema}`)), /permission denied/)
    }
    assert.match(String(await as("author", "CREATE SCHEMA another")), /permission denied for database/)
    await database.run("CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public")
    assert.match(String(await as("author", "DROP EXTENSION pg_trgm CASCADE")), /must be owner of extension/)
    await database.run("DROP EXTENSION pg_trgm")
  })

  it("sees nothing of schema cabinet and changes no source table", async () => {
    assert.match(String(await as("author", "SELECT * FROM cabinet.api_key")), /permission denied for schema cabinet/)
    assert.match(
      String(await as("author", "CREATE TABLE sources.mine (a int)")),
      /permission denied for schema sources/,
    )
    assert.match(
      String(await as("author", "CREATE VIEW public.peek AS SELECT * FROM cabinet.api_key")),
      /permission denied for schema cabinet/,
    )
  })
})

it("ensureRoles fails when the author's objects cannot be opened to the reader, instead of leaving them closed", async () => {
  const { role } = roles.author
  await as("author", `ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM "${roles.reader.role}"`)
  assert.isFalse(await stand())
  await database.run(`ALTER ROLE "${role}" IN DATABASE ${database.name} SET default_transaction_read_only = on`)
  const failure = await ensure().then(
    () => "none",
    (error: { readonly reason?: { readonly cause?: unknown } }) => String(error.reason?.cause),
  )
  assert.match(failure, /read-only transaction/)
  await database.run(`ALTER ROLE "${role}" IN DATABASE ${database.name} RESET default_transaction_read_only`)
  await ensure()
  assert.isTrue(await stand())
})

describe("the reader", () => {
  it.each([
    ["reads a key directly", ["SELECT * FROM cabinet.api_key"], /permission denied/],
    ["takes another role", ["SET ROLE cabinet", "SELECT * FROM cabinet.api_key"], /permission denied to set role/],
    ["takes the author's role", () => [`SET ROLE "${roles.author.role}"`], /permission denied to set role/],
    ["takes the owner's session", ["SET SESSION AUTHORIZATION cabinet"], /permission denied to set session/],
    ["writes", ["CREATE TABLE public.x (a int)"], /permission denied|read-only transaction/],
    [
      "writes into a customer's table",
      ["SET default_transaction_read_only = off", "DELETE FROM shop.item"],
      /permission denied/,
    ],
    ["reads a file", ["SELECT pg_read_file('/etc/passwd')"], /permission denied/],
    ["runs a program", ["COPY (SELECT 1) TO PROGRAM 'true'"], /permission denied|must be superuser/],
    ["reads passwords", ["SELECT * FROM pg_authid"], /permission denied/],
  ] as const)("is refused when it %s", async (_, statements, refusal) => {
    const list = typeof statements === "function" ? statements() : statements
    assert.match(String(await as("reader", ...list)), refusal)
  })

  it("gains nothing from a view that sets the role, regardless of its author", async () => {
    await as(
      "author",
      "CREATE FUNCTION public.sneak() RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('role', 'cabinet', false); RETURN (SELECT string_agg(prefix, ',') FROM cabinet.api_key); END $$",
      "CREATE FUNCTION public.sneak_definer() RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN (SELECT string_agg(prefix, ',') FROM cabinet.api_key); END $$",
      "CREATE VIEW public.trick AS SELECT public.sneak() AS key",
      "CREATE VIEW public.trick_definer AS SELECT public.sneak_definer() AS key",
      "CREATE VIEW public.trick_config AS SELECT set_config('role', 'cabinet', false) AS role",
      "CREATE VIEW public.trick_auth AS SELECT set_config('session_authorization', 'cabinet', false) AS role",
      "CREATE VIEW public.trick_xml AS SELECT query_to_xml('SELECT prefix FROM cabinet.api_key', true, true, '')::text AS key",
    )
    for (const view of ["trick", "trick_definer", "trick_config", "trick_auth", "trick_xml"]) {
      assert.match(String(await as("reader", `SELECT * FROM public.${view}`)), /permission denied/, view)
    }
  })
})
