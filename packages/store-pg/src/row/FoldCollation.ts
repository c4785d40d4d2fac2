/** The collation by which searches ignore case. */
import { quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

/**
 * Finds the collation that folds case by all of Unicode's rules, as JavaScript does: PostgreSQL's own (18 and later), else
 * ICU's root collation. A server built without ICU folds only letter by letter, or as the database does.
 */
export const FOLD_COLLATION = `
  SELECT collname::text AS name FROM pg_collation
  WHERE collnamespace = 'pg_catalog'::regnamespace AND collname IN ('pg_unicode_fast', 'und-x-icu', 'pg_c_utf8', 'default')
    AND collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()))
  ORDER BY array_position(ARRAY['pg_unicode_fast', 'und-x-icu', 'pg_c_utf8', 'default']::name[], collname) LIMIT 1`

/** Returns its name, quoted and with its schema. Read once per pool, because it cannot change while a server runs. */
export const foldCollation = (sql: PgClient.PgClient): Effect.Effect<string, SqlError.SqlError> => {
  let known: string | undefined
  return Effect.suspend(() =>
    known !== undefined
      ? Effect.succeed(known)
      : Effect.map(
          sql.unsafe<{ readonly name: string }>(FOLD_COLLATION),
          ([row]) => (known = quoteQualified("pg_catalog", row?.name ?? "default")),
        ),
  )
}
