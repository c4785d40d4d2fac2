/** Names of the test cluster, and single statements against it. */
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, ManagedRuntime, Redacted } from "effect"

export const superuser = "postgres"
/** The role that owns every test database: not a superuser, as on a customer's own PostgreSQL. */
export const ownerRole = "cabinet"
export const templateDatabase = "cabinet_template"

/** A URL that reaches a database over the unix socket in `socketDir`. */
export const databaseUrl = (socketDir: string, role: string, database: string): string =>
  `postgres://${encodeURIComponent(role)}@localhost/${encodeURIComponent(database)}?host=${encodeURIComponent(socketDir)}`

type Rows = ReadonlyArray<Record<string, unknown>>

const unsafe = (statement: string) => PgClient.PgClient.use((sql) => sql.unsafe<Record<string, unknown>>(statement))

/** Runs one statement on a separate connection and returns its rows. */
export const runSql = (url: string, statement: string): Promise<Rows> =>
  unsafe(statement).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.runPromise,
  )

/** What leaves something behind in its session, or is refused or without effect while other sessions are there. */
const NEEDS_OWN_SESSION = new RegExp(
  [
    String.raw`(?:^|;)\s*(?:BEGIN|START|SET|RESET|PREPARE|EXECUTE|DEALLOCATE|DECLARE|LISTEN|LOCK|LOAD)\b`,
    String.raw`\b(?:TEMP|TEMPORARY|DATABASE|set_config|pg_advisory\w*|pg_terminate_backend|pg_stat_activity|pg_sleep)\b`,
  ].join("|"),
  "iu",
)

/** Statements one after the other. */
export interface KeptSession {
  readonly run: (statement: string) => Promise<Rows>
  readonly end: () => Promise<void>
}

/**
 * Runs statements on a session that is kept, since opening one costs more than most statements of a test. Statements that would
 * leave something behind for the next get a session of their own.
 */
export const keptSession = (url: string): KeptSession => {
  const runtime = ManagedRuntime.make(
    PgClient.layer({ url: Redacted.make(url), maxConnections: 8, idleTimeout: Duration.seconds(10) }),
  )
  return {
    run: (statement) =>
      NEEDS_OWN_SESSION.test(statement) ? runSql(url, statement) : runtime.runPromise(unsafe(statement)),
    end: () => runtime.dispose(),
  }
}
