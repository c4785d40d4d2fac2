import { asJsonRows, runScript } from "@data-cabinet/store-pg/connection/AuthorSession"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { ensureRoles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let url = ""

beforeAll(async () => {
  const roles = await Effect.runPromise(
    ensureRoles({ url: database.url }).pipe(Effect.provide(OwnerClient.layer({ url: database.url }))),
  )
  if (!roles.author.there) throw new Error(roles.author.reason)
  url = roles.author.url
})

const run = (script: string, transaction = true) => Effect.runPromise(runScript({ url, script, transaction }))

it("runScript creates tables and views, and returns rows with every digit", async () => {
  const outcomes = await run(`
    -- a table; with a semicolon in a comment
    CREATE TABLE public.price (name text, amount numeric, at timestamptz);
    INSERT INTO public.price VALUES ('a;b', 0.10, '2026-01-01 00:00:00.123456+00') RETURNING name;
    WITH p AS (SELECT * FROM public.price) SELECT amount, at FROM p;
    VALUES (1), (2);
    SHOW search_path`)
  expect(outcomes.map(({ rows }) => rows)).toEqual([
    null,
    [`{"name":"a;b"}`],
    [`{"amount":0.10,"at":"2026-01-01T00:00:00.123456+00:00"}`],
    [`{"column1":1}`, `{"column1":2}`],
    [expect.stringContaining("search_path")],
  ])
})

it("runScript runs a script whole or not at all, and names the failing statement", async () => {
  const script = "CREATE TABLE public.half (a int); INSERT INTO public.half VALUES (1); SELECT nope FROM public.half"
  await expect(run(script)).rejects.toThrow(/^Statement 3: column "nope" does not exist/)
  const [row] = await database.run("SELECT to_regclass('public.half') IS NULL AS gone")
  expect(row).toEqual({ gone: true })
})

it("runScript without a transaction runs statements that forbid one, and keeps the work before an error", async () => {
  await expect(run("CREATE TABLE public.kept (a int); VACUUM public.kept; SELECT nope", false)).rejects.toThrow(
    /^Statement 3/,
  )
  const [row] = await database.run("SELECT to_regclass('public.kept') IS NOT NULL AS kept")
  expect(row).toEqual({ kept: true })
})

const HINT = "The author creates in public and in schemas of its own: cabinet schema add NAME adds one"

it.each([
  "CREATE TABLE sources.own (a int)",
  "CREATE SCHEMA own",
  "-- a comment\nCREATE OR REPLACE VIEW cabinet.own AS SELECT 1",
  "CREATE TABLE Cabinet.own AS SELECT 1",
  'SELECT 1; CREATE FUNCTION "sources".own() RETURNS int LANGUAGE sql AS $$SELECT 1$$',
  "SET search_path = sources; CREATE VIEW own AS SELECT 1 AS one",
])("runScript suggests the command that adds a schema when it may not run %s", async (script) => {
  await expect(run(script)).rejects.toThrow(/permission denied for (schema|database) \S+ \(42501\)/)
  await expect(run(script)).rejects.toThrow(HINT)
})

it.each([
  "CREATE VIEW public.copied AS SELECT * FROM cabinet.event",
  "CREATE TABLE copied AS TABLE cabinet.event",
  "SELECT * FROM cabinet.event",
  "CREATE ROLE own",
])("runScript suggests no command that adds a schema when it may not run %s", async (script) => {
  const refused = await run(script).catch((error: Error) => error.message)
  expect(refused).toMatch(/permission denied/)
  expect(refused).not.toContain(HINT)
})

it("runScript sees nothing in the cabinet's own schema", async () => {
  await expect(run("SELECT * FROM cabinet.api_key")).rejects.toThrow(/permission denied/)
  await expect(run("SET ROLE cabinet; SELECT * FROM cabinet.api_key")).rejects.toThrow(/permission denied/)
})

it("asJsonRows leaves statements unchanged that return no rows or cannot be rewritten", () => {
  for (const statement of [
    "CREATE VIEW v AS SELECT 1",
    "SELECT 1 INTO t",
    "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
    "EXPLAIN SELECT 1",
    "DELETE FROM t",
  ]) {
    expect(asJsonRows(statement)).toBeNull()
  }
  expect(asJsonRows("/* x */ (SELECT 1)")).toContain("row_to_json")
})
