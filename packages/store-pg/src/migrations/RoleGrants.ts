/** The rights of the reader and the author in a cabinet's database; `RightsStatement` checks them. */
import { quoteName } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { sqlState } from "../connection/StoreFailure.ts"

/** The reader reads the sources' tables, and objects granted to it in `public`. */
export const grantReader = Effect.fnUntraced(function* (database: string, role: string) {
  const sql = yield* PgClient.PgClient
  const name = quoteName(role)
  yield* sql.unsafe(`GRANT CONNECT ON DATABASE ${quoteName(database)} TO ${name}`)
  yield* sql.unsafe(`GRANT USAGE ON SCHEMA sources, public TO ${name}`)
  yield* readSources(name)
})

/** The author reads the same, and creates in `public`. */
export const grantAuthor = Effect.fnUntraced(function* (database: string, role: string) {
  const sql = yield* PgClient.PgClient
  const name = quoteName(role)
  yield* sql.unsafe(`GRANT CONNECT, TEMPORARY ON DATABASE ${quoteName(database)} TO ${name}`)
  // A role that may create schemas may also create extensions, which put functions into any schema as its owner.
  yield* sql.unsafe(`REVOKE CREATE ON DATABASE ${quoteName(database)} FROM ${name}`)
  yield* sql.unsafe(`GRANT USAGE ON SCHEMA sources TO ${name}`)
  // If `public` belongs to another role, that owner has to grant the author access; the author's own schemas still
  // work.
  yield* sql
    .withTransaction(sql.unsafe(`GRANT USAGE, CREATE ON SCHEMA public TO ${name}`))
    .pipe(Effect.catchTag("SqlError", (error) => (sqlState(error) === "42501" ? Effect.void : Effect.fail(error))))
  yield* readSources(name)
})

/** Grants existing tables and those of future sources. */
const readSources = Effect.fnUntraced(function* (name: string) {
  const sql = yield* PgClient.PgClient
  yield* sql.unsafe(`GRANT SELECT ON ALL TABLES IN SCHEMA sources TO ${name}`)
  yield* sql.unsafe(`ALTER DEFAULT PRIVILEGES IN SCHEMA sources GRANT SELECT ON TABLES TO ${name}`)
})
