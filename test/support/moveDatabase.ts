/**
 * Moves a cabinet into a new database of the same name in another cluster. It uses `pg_dump` if the binaries include it, and
 * otherwise copies table by table as `pg_dump` would, including the transaction ids of events.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Binaries } from "@data-cabinet/store-pg/embedded/Binaries"
import type { TestCluster } from "./cluster.ts"
import { migrateTemplate } from "./migrateTemplate.ts"
import { ownerRole, runSql, superuser } from "./postgresAdmin.ts"

export const moveDatabase = async (database: string, from: TestCluster, to: TestCluster, binaries: Binaries) => {
  const bin = dirname(binaries.postgres)
  const dumps = existsSync(join(bin, "pg_dump")) && existsSync(join(bin, "psql"))
  await to.createDatabase(database)
  await (dumps ? byDump(bin, database, from, to) : byCopy(database, from, to))
}

const byDump = async (bin: string, database: string, from: TestCluster, to: TestCluster) => {
  const program = (name: string, words: ReadonlyArray<string>, input?: Buffer): Buffer => {
    const done = spawnSync(join(bin, name), words, { input, maxBuffer: 64 * 1024 * 1024 })
    if (done.status !== 0) throw new Error(`${name}: ${done.stderr.toString()}`)
    return done.stdout
  }
  const dump = program("pg_dump", ["-h", from.socketDir, "-U", superuser, "--no-owner", "--no-privileges", database])
  program("psql", ["-q", "-v", "ON_ERROR_STOP=1", "-h", to.socketDir, "-U", ownerRole, "-d", database], dump)
}

const TABLES = `
SELECT format('%I.%I', relnamespace::regnamespace, relname) AS name, relnamespace::regnamespace = 'sources'::regnamespace AS own,
       string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS names,
       string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum) AS columns
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE relnamespace IN ('cabinet'::regnamespace, 'sources'::regnamespace) AND relkind IN ('r', 'p') AND NOT relispartition
  AND relname <> 'migration' AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
GROUP BY c.oid`

interface Table {
  readonly name: string
  readonly own: boolean
  readonly names: string
  readonly columns: string
}

const byCopy = async (database: string, from: TestCluster, to: TestCluster) => {
  const tables = (await from.run(TABLES, database)) as unknown as ReadonlyArray<Table>
  await migrateTemplate(to.url(database))
  await to.run(`TRUNCATE ${tables.flatMap(({ name, own }) => (own ? [] : [name])).join(", ")}`, database)
  // The servers may run as different users, so the folder is open to all.
  const folder = mkdtempSync(join(tmpdir(), "dc-move-"))
  chmodSync(folder, 0o777)
  const statements: Array<string> = []
  for (const { name, own, names, columns } of tables) {
    if (own) await runSql(to.url(database), `CREATE TABLE ${name} (${columns}, PRIMARY KEY (_event_id))`)
    await from.run(`COPY (SELECT ${names} FROM ${name}) TO '${folder}/${name}'`, database)
    statements.push(`COPY ${name} (${names}) FROM '${folder}/${name}'`)
  }
  const sequences = await from.run(
    `SELECT sequencename::text AS name, last_value::text AS value FROM pg_sequences WHERE schemaname = 'cabinet'`,
    database,
  )
  for (const { name, value } of sequences) {
    if (value !== null) statements.push(`PERFORM setval('cabinet.${String(name)}', ${String(value)})`)
  }
  await to.run(`DO $$ BEGIN SET LOCAL session_replication_role = replica; ${statements.join("; ")}; END $$`, database)
  rmSync(folder, { recursive: true })
}
