/** Names of the test cluster, and single statements against it. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"

export const superuser = "postgres"
/** The role that owns every test database: not a superuser, as on a customer's own PostgreSQL. */
export const ownerRole = "cabinet"
export const templateDatabase = "cabinet_template"

/** A URL that reaches a database over the unix socket in `socketDir`. */
export const databaseUrl = (socketDir: string, role: string, database: string): string =>
  `postgres://${encodeURIComponent(role)}@localhost/${encodeURIComponent(database)}?host=${encodeURIComponent(socketDir)}`

/** Runs one statement on a separate connection and returns its rows. */
export const runSql = (url: string, statement: string): Promise<ReadonlyArray<Record<string, unknown>>> =>
  PgClient.PgClient.use((sql) => sql.unsafe<Record<string, unknown>>(statement)).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.runPromise,
  )
