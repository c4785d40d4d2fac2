/**
 * What a role admitted to a database of the embedded cluster may not call: in new clusters, in those of an earlier
 * version, and in every additional database that the owner creates.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { backup } from "@data-cabinet/store-pg/embedded/Backup"
import * as EmbeddedPostgres from "@data-cabinet/store-pg/embedded/EmbeddedPostgres"
import { restore } from "@data-cabinet/store-pg/embedded/Restore"
import { Effect } from "effect"
import { afterAll, expect, it } from "vitest"
import { query } from "./Holder.ts"

const dir = mkdtempSync(join(tmpdir(), "dc-close-"))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const dataDir = join(dir, "data")

type Database = EmbeddedPostgres.EmbeddedDatabase

const using = <A>(at: string, work: (database: Database) => Promise<A>): Promise<A> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(EmbeddedPostgres.join({ dataDir: at }), (server) => Effect.promise(() => work(server))),
    ),
  )

const FUNCTIONS = ["pg_advisory_lock(1)", "pg_try_advisory_xact_lock_shared(1, 2)", "pg_advisory_unlock_all()"]
/** None of them checks for interrupts. */
const XML = [
  "xpath('/a', '<a/>')::text",
  "xpath_exists('/a', '<a/>')",
  "pg_catalog.xmlexists('/a', XMLPARSE(DOCUMENT '<a/>'))",
  "xml_is_well_formed('<a/>')",
  "pg_catalog.xml('<a/>'::text)::text",
]
const WRITING = [
  "pg_export_snapshot()",
  "lo_create(0)",
  "lo_from_bytea(0, 'x')",
  "pg_logical_emit_message(false, 'a', 'b')",
]
const ENDING = ["pg_cancel_backend(pg_backend_pid())", "pg_terminate_backend(pg_backend_pid(), 0)"]

/** The SQLSTATE of a refusal; null if there was none. */
const refusal = (url: string, statement: string): Promise<string | null> =>
  query(url, statement).then(
    () => null,
    (error: { reason: { cause: { code: string } } }) => error.reason.cause.code,
  )

const states = (url: string, calls: ReadonlyArray<string>) =>
  Promise.all(calls.map((call) => refusal(url, `SELECT ${call}`)))

const expectClosed = async (database: Database, names: ReadonlyArray<string>) => {
  for (const name of names) {
    const stranger = database.urlFor("stranger", name)
    expect(await states(stranger, [...FUNCTIONS, ...ENDING, ...WRITING, ...XML])).toEqual(
      Array.from({ length: 14 }, () => "42501"),
    )
    expect(await states(database.urlFor("cabinet", name), [...FUNCTIONS, ...XML])).toEqual(
      Array.from({ length: 8 }, () => null),
    )
  }
  for (const name of ["postgres", "template1"]) {
    expect(await refusal(database.urlFor("stranger", name), "SELECT 1")).toBe("42501")
  }
  expect(await refusal(database.urlFor("cabinet", "postgres"), "SELECT 1")).toBeNull()
  expect(await refusal(database.superuserUrl.replace("/cabinet?", "/template0?"), "SELECT 1")).toBe("55000")
}

const makeDatabase = (database: Database, name: string) =>
  query(database.url, `CREATE DATABASE ${name} TEMPLATE template0`)

const OPEN = `
DO $$ DECLARE f regprocedure; BEGIN
  FOR f IN SELECT oid FROM pg_proc WHERE proname ~ 'advisory|^lo_|^xml$|^xpath|^xml_is|^xmlexists$'
      OR proname IN ('pg_cancel_backend', 'pg_terminate_backend', 'pg_export_snapshot') LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', f);
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM cabinet CASCADE', f);
  END LOOP;
END $$`

/** As initdb leaves a cluster. */
const openAll = async (database: Database, names: ReadonlyArray<string>) => {
  const { superuserUrl } = database
  await query(superuserUrl, "ALTER DATABASE template0 ALLOW_CONNECTIONS true")
  for (const name of names) await query(superuserUrl.replace("/cabinet?", `/${name}?`), OPEN)
  await query(superuserUrl, "ALTER DATABASE template0 ALLOW_CONNECTIONS false")
  await query(superuserUrl, "GRANT CONNECT, TEMPORARY ON DATABASE postgres, template1 TO PUBLIC")
}

const SYSTEM = ["template0", "template1", "postgres"]

it("in a new cluster only the owner may take advisory locks, end sessions or enter the maintenance databases", () =>
  using(dataDir, async (database) => {
    await query(database.url, "CREATE ROLE stranger LOGIN")
    await makeDatabase(database, "beside")
    await expectClosed(database, ["cabinet", "beside"])
  }))

it("the owner can grant XML to a role, and reserves connections for itself", () =>
  using(dataDir, async (database) => {
    const grant =
      "GRANT EXECUTE ON FUNCTION pg_catalog.xpath(text, xml), pg_catalog.xpath(text, xml, text[]) TO stranger"
    expect(await refusal(database.url, grant)).toBeNull()
    expect(await states(database.urlFor("stranger", "cabinet"), ["xpath('/a', '<a/>')::text"])).toEqual([null])
    await query(
      database.url,
      "REVOKE EXECUTE ON FUNCTION pg_catalog.xpath(text, xml), pg_catalog.xpath(text, xml, text[]) FROM stranger",
    )
    const [held] = await query(
      database.url,
      `SELECT pg_has_role('cabinet', 'pg_use_reserved_connections', 'USAGE') AS owners,
        pg_has_role('stranger', 'pg_use_reserved_connections', 'USAGE') AS strangers,
        current_setting('reserved_connections')::int AS reserved`,
    )
    expect(held).toEqual({ owners: true, strangers: false, reserved: 10 })
  }))

it("a cluster of an earlier version is closed to others by its next start, or by joining it while it runs", async () => {
  await using(dataDir, (database) => openAll(database, [...SYSTEM, "cabinet", "beside"]))
  await using(dataDir, async (database) => {
    await expectClosed(database, ["cabinet", "beside"])
    await openAll(database, [...SYSTEM, "cabinet", "beside"])
    expect(await states(database.urlFor("stranger", "beside"), FUNCTIONS)).toEqual([null, null, null])
    // The note that the earlier version leaves.
    const note = join(dataDir, "server.json")
    const { closed: _, ...earlier } = JSON.parse(readFileSync(note, "utf8"))
    writeFileSync(note, JSON.stringify(earlier))
    await using(dataDir, (joined) => expectClosed(joined, ["cabinet", "beside"]))
  })
})

it("the next start completes the closing of a cluster by a killed process", async () => {
  await using(dataDir, async (database) => {
    await openAll(database, ["template0", "postgres", "beside"])
    await query(database.superuserUrl, "ALTER DATABASE template0 ALLOW_CONNECTIONS true")
  })
  await using(dataDir, async (database) => {
    await makeDatabase(database, "later")
    await expectClosed(database, ["cabinet", "beside", "later"])
  })
})

it("a restored backup is as closed to others as its original", async () => {
  const file = join(dir, "closed.tar")
  const restored = join(dir, "restored")
  await Effect.runPromise(backup({ dataDir, file }))
  await Effect.runPromise(restore({ dataDir: restored, file }))
  await using(restored, (database) => expectClosed(database, ["cabinet", "beside"]))
})
