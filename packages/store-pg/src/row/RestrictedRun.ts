/**
 * Runs statements with the privileges of another role on a session of ours, so that nothing in them can regain our
 * privileges.
 *
 * `SET ROLE` would not do: the first function that the statements run (a domain's check runs while a literal is parsed)
 * can call `RESET ROLE`. Code that PostgreSQL runs while it fills a materialized view runs as the owner of that view
 * and as a security-restricted operation: it cannot set the role; deferred triggers, temporary tables, prepared
 * statements and LISTEN are refused; and every setting is restored when it ends. So the statements are put into a
 * function that a materialized view of that role calls once. Only the session's advisory locks remain, which are
 * released here.
 *
 * Runs in the caller's transaction; refuses a role that we may not act for (42501).
 */
import { randomBytes } from "node:crypto"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

/** Our sessions take backslashes literally (`standard_conforming_strings`). */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** One statement of a body. */
export const execute = (statement: string): string => `EXECUTE ${literal(statement)};`

/** `body`: PL/pgSQL statements in which every name is qualified; `declarations`: its variables. */
export const restrictedRun = (
  sql: PgClient.PgClient,
  role: string,
  body: ReadonlyArray<string>,
  declarations = "",
): Effect.Effect<void, SqlError.SqlError> => {
  const place = `cabinet_run_${randomBytes(12).toString("hex")}`
  const schema = quoteName(place)
  const run = quoteQualified(place, "run")
  const once = quoteQualified(place, "once")
  const as = quoteName(role)
  const text = `${declarations === "" ? "" : `DECLARE ${declarations} `}BEGIN\n${body.join("\n")}\nRETURN 1;\nEND`
  const statements = [
    `CREATE SCHEMA ${schema}`,
    // A new owner needs CREATE on the schema of the object. Only this transaction sees the schema.
    `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${as}`,
    `CREATE FUNCTION ${run}() RETURNS pg_catalog.int4 LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS ${literal(text)}`,
    `GRANT EXECUTE ON FUNCTION ${run}() TO ${as}`,
    `CREATE MATERIALIZED VIEW ${once} AS SELECT ${run}() AS done WITH NO DATA`,
    `ALTER MATERIALIZED VIEW ${once} OWNER TO ${as}`,
    `REFRESH MATERIALIZED VIEW ${once}`,
    `DROP SCHEMA ${schema} CASCADE`,
  ]
  const work = Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
  // A savepoint, so that the session can release the locks even after a failed statement.
  return Effect.ensuring(sql.withTransaction(work), Effect.ignore(sql`SELECT pg_catalog.pg_advisory_unlock_all()`))
}
