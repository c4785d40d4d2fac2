import { UNSTOPPABLE_FUNCTIONS } from "../connection/UnstoppableCode.ts"

/** The rights beyond reading that PostgreSQL grants to every role, and so to the reports' role. */

/**
 * $1: the role. Lists the remaining rights that PostgreSQL grants every role and this user may not revoke, with the
 * statement that revokes each. The embedded server leaves none.
 */
export const RIGHTS_BEYOND_READING = `
SELECT "right", remedy FROM (
  SELECT 1 AS n, 'create temporary tables' AS "right",
    format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()) AS remedy
  WHERE has_database_privilege($1::name, current_database(), 'TEMPORARY')
  UNION ALL
  SELECT 2, format('create objects in schema %I', n.nspname), format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC', n.nspname)
  FROM pg_namespace n WHERE left(n.nspname, 3) <> 'pg_' AND has_schema_privilege($1::name, n.oid, 'CREATE')
  UNION ALL
  SELECT 3, format('create schemas in the database %I', current_database()),
    format('REVOKE CREATE ON DATABASE %I FROM PUBLIC', current_database())
  WHERE has_database_privilege($1::name, current_database(), 'CREATE')
  UNION ALL
  SELECT 4, words.can, format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', string_agg(p.oid::regprocedure::text, ', '))
  FROM pg_proc p JOIN (VALUES
      ('write large objects', '^(lo_.*|lowrite)$'),
      ('export snapshots, each of which is a file', '^pg_export_snapshot$'),
      ('run functions of XML, which nothing can stop', '${UNSTOPPABLE_FUNCTIONS}'),
      ('write messages into the log of changes', '^pg_logical_emit_message$'),
      ('take advisory locks, which use up the table of locks that all sessions share', '^pg_(try_)?advisory_')
    ) words (can, names) ON p.proname ~ words.names
  WHERE p.pronamespace = 'pg_catalog'::regnamespace AND has_function_privilege($1::name, p.oid, 'EXECUTE')
    AND p.proname NOT IN ('lo_close', 'lo_get', 'lo_lseek', 'lo_lseek64', 'lo_tell', 'lo_tell64')
  GROUP BY words.can
  UNION ALL
  SELECT 5, format('log in to the database %I', d.datname), format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', d.datname)
  FROM pg_database d
  WHERE d.datallowconn AND d.datname <> current_database() AND has_database_privilege($1::name, d.oid, 'CONNECT')
  UNION ALL
  SELECT 6, 'write temporary files without limit', format('ALTER ROLE %I SET temp_file_limit = ''5GB''', $1)
  WHERE NOT EXISTS (SELECT FROM pg_db_role_setting s, unnest(s.setconfig) c
    WHERE s.setrole = (SELECT oid FROM pg_roles WHERE rolname = $1::name) AND s.setdatabase = 0 AND c LIKE 'temp\\_file\\_limit=%')
) found ORDER BY n, "right"`
