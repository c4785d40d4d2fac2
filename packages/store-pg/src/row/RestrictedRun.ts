/**
 * Runs statements on one of our sessions with the privileges of another role, so that they cannot regain ours.
 *
 * `SET ROLE` is not enough: any function that the statements run, such as a domain's check while a literal is parsed, can
 * call `RESET ROLE`. But while PostgreSQL fills a materialized view, it runs code as the view's owner and as a
 * security-restricted operation. Such code cannot set the role; deferred triggers, temporary tables, prepared statements
 * and LISTEN are refused; every setting is restored afterwards. So the statements become a function that a materialized
 * view of that role calls once. Only the session's advisory locks remain, and they are released here.
 *
 * It runs in the caller's transaction, and fails with 42501 for a role that we may not act for.
 */
import { randomBytes } from "node:crypto"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

/** Quotes a text. Backslashes stay, because our sessions set `standard_conforming_strings`. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** A statement as part of a PL/pgSQL body. */
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
    // A new owner of an object needs CREATE on its schema. Only this transaction sees the schema.
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
