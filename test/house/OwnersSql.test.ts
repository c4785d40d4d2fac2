/**
 * The owner's statements name nothing that a customer could have created. All SQL texts are checked, so that future
 * statements are covered too; planted faults show that the check finds them.
 */
import { owner, ownerShared, short, unlimited } from "@data-cabinet/store-pg/connection/SessionSettings"
import { beforeAll, expect, it } from "vitest"
import { type KnownNames, ownNamesByFile, strayNames } from "../support/sqlNames.ts"
import { allPrograms, allSqlTexts, callsOf, sqlTextsOf } from "../support/sqlTexts.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase({ empty: true })
let known: KnownNames
beforeAll(async () => {
  const names = async (table: string, prefix: string) => {
    const column = `${prefix}name`
    const rows = await database.run(
      `SELECT DISTINCT ${column}::text AS name FROM ${table} WHERE ${prefix}namespace = 'pg_catalog'::regnamespace`,
    )
    return new Set(rows.map((row) => String(row["name"])))
  }
  known = {
    functions: await names("pg_proc", "pro"),
    types: await names("pg_type", "typ"),
    relations: await names("pg_class", "rel"),
  }
})

/** Exceptions, each with its reason. */
const ALLOWED: ReadonlyArray<readonly [file: string, fault: RegExp]> = [
  // The session's own temporary table, made in the same transaction.
  ["diagnostics/WriteCheck.ts", /pg_temp\.cabinet_room/],
  // The transition tables of triggers that are declared elsewhere.
  ["migrations/0050_filtered_fan_out.sql", /(?:old|new)_events$/],
  ["migrations/0057_resend_queue.sql", /(?:old|new)_events$/],
  ["migrations/0053_subscriptions_by_statement.sql", /FROM made$/],
  // The lock file is an SQLite database.
  ["embedded/DataDirLock.ts", /sqlite_master/],
  // A list of the verbs of SQL, and a browser's script in one string: neither is a statement.
  ["acts/ScriptAct.ts", /(?:DELETE|REFRESH)$/],
  ["generated/ConsoleScript.ts", /./],
]

/** The accept statement is put together from the texts of several files, which name one another's parts. */
const inAcceptStatement = (file: string): boolean => /event\/Accept\w+\.ts$/.test(file)

it("every SQL text names only objects of PostgreSQL or the cabinet", () => {
  const texts = allSqlTexts()
  expect(texts.length).toBeGreaterThan(200)
  const own = ownNamesByFile(texts)
  const accept = new Set([...own].flatMap(([file, names]) => (inAcceptStatement(file) ? [...names] : [])))
  const faults = texts.flatMap((text) =>
    strayNames(text, known, inAcceptStatement(text.file) ? accept : own.get(text.file))
      .filter((fault) => !ALLOWED.some(([file, allowed]) => text.file.endsWith(file) && allowed.test(fault)))
      .map((fault) => `${text.where} ${fault}`),
  )
  expect(faults).toEqual([])
})

it.each([
  ["SELECT ${trigrams}.show_trgm('ж') AS known", "untyped literal"],
  ["SELECT ${trigrams}.show_trgm($1) AS known", "untyped literal"],
  ["SELECT public.show_trgm($1)", "function of another schema"],
  ["SELECT show_trgm($1)", "function that PostgreSQL has not"],
  ["SELECT $1::public.d", "type of another schema"],
  ["SELECT $1::citext", "type that PostgreSQL has not"],
  ["SELECT 1 OPERATOR(public.=) 2", "operator of another schema"],
  ["SELECT * FROM public.orders", "relation of another schema"],
  ["INSERT INTO public.orders (a) VALUES (1)", "relation of another schema"],
  ["DELETE FROM orders", "relation that PostgreSQL has not"],
  ["SET LOCAL ROLE ${role}", "role set in a session"],
  ["SELECT set_config('role', $1, true)", "role set in a session"],
  [
    "CREATE FUNCTION cabinet.f() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
    "function with its owner's rights",
  ],
])("the check finds: %s", (statement, fault) => {
  const [text] = sqlTextsOf("packages/store-pg/src/Planted.ts", `const planted = \`${statement}\``)
  expect(strayNames(text!, known).join()).toContain(fault)
})

it("every session is opened by the one pool, and every kind of the owner's keeps customers' objects out", () => {
  const programs = allPrograms()
  const opening = (name: RegExp) =>
    programs.flatMap(({ file, text }) => callsOf(file, text, name).map((call) => ({ file, call })))
  const raw = opening(/^(PgClient\.(layer\w*|make\w*|from\w*)|PgPool\.make|PgConnection\.\w+)$/)
  // The probe asks one schema-qualified question and closes its session.
  const openers = ["HostProbe", "SessionPool"].map((name) => `packages/store-pg/src/connection/${name}.ts`)
  expect([...new Set(raw.map(({ file }) => file))]).toEqual(openers)

  const others = /connection\/(Author|Reader)\w+\.ts$/
  const owners = opening(/^SessionPool\.(layer|lentSessions)$/).filter(({ file }) => !others.test(file))
  expect(owners.length).toBeGreaterThan(4)
  for (const { file, call } of owners) {
    expect(call.replaceAll("SessionSettings.", ""), file).toMatch(
      /settings: (short\(|unlimited\b|owner\b|ownerShared\b|multiplex \? ownerShared : owner\b)/,
    )
  }
  for (const kind of [owner, ownerShared, short(1), unlimited])
    expect(kind.set["search_path"]).toBe("pg_catalog, pg_temp")
})
