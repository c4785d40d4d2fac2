/**
 * Code that PostgreSQL cannot stop once it runs, because it ignores interrupts: neither a time limit nor a termination
 * ends it. Every role may use it in a new database; on the embedded server that is revoked, elsewhere `doctor` says
 * how.
 */

/** The names of PostgreSQL's own functions, as a regular expression: libxml2 evaluates an expression, or parses. */
export const UNSTOPPABLE_FUNCTIONS = "^(xpath|xpath_exists|xmlexists|xml|xml_is_well_formed.*)$"

/**
 * Trusted languages in which every role may write functions; PL/pgSQL is not among them, because it checks for
 * interrupts.
 */
export const OPEN_LANGUAGES = `
  SELECT l.lanname::text AS name FROM pg_language l
  WHERE l.lanpltrusted AND l.lanname NOT IN ('plpgsql', 'sql')
    AND EXISTS (SELECT FROM aclexplode(coalesce(l.lanacl, acldefault('l', l.lanowner))) a WHERE a.grantee = 0)`

/** The statements that revoke it from PUBLIC here, one a row. A superuser may run them. */
export const UNSTOPPABLE_FOR_ALL = `
  SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', string_agg(p.oid::regprocedure::text, ', ')) AS remedy
  FROM pg_proc p
  WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ '${UNSTOPPABLE_FUNCTIONS}'
    AND EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee = 0)
  HAVING count(*) > 0
  UNION ALL
  SELECT format('REVOKE USAGE ON LANGUAGE %I FROM PUBLIC', name) FROM (${OPEN_LANGUAGES}) l`

/**
 * Sessions of the reader's and of reports that have outlived every time limit, in this database. A minute is far more than a
 * read may take; an export says so in its name, and may take an
 * hour.
 */
export const OUTLIVED_SESSIONS = `
  SELECT a.pid, a.usename::text AS login, coalesce(a.application_name, '') AS application,
    extract(epoch FROM clock_timestamp() - a.query_start)::float8 AS seconds
  FROM pg_stat_activity a
  WHERE a.datname = current_database() AND a.state IN ('active', 'fastpath function call')
    AND (a.usename LIKE 'cabinet\\_%\\_reader' AND a.query_start < clock_timestamp()
        - CASE WHEN a.application_name LIKE '%reader export%' THEN interval '65 minutes' ELSE interval '1 minute' END
      OR a.usename LIKE 'cabinet\\_%\\_reports' AND a.xact_start < clock_timestamp() - interval '16 minutes')
  ORDER BY a.query_start LIMIT 20`
