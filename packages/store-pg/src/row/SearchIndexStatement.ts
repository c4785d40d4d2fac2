/**
 * The objects that `cabinet table search-index` creates: the functions of schema `cabinet_search`, and one index on a
 * table. These functions run in sessions of every kind, so nothing in them depends on the search path; and no pg_trgm
 * function is called by name where others could create one of that name.
 */
import { SEARCH_SCHEMA, searchFunction } from "@data-cabinet/core/selection/SearchSql"
import { isSearchIndexed } from "./CatalogStatement.ts"
import { INDEX_FIGURES } from "./ColumnIndexStatement.ts"

const SCHEMA = `"${SEARCH_SCHEMA}"`

/** Types whose text is the same in every session. */
const PLAIN = ["int2", "int4", "int8", "numeric", "bool", "text", "json", "jsonb"].map((type) => `pg_catalog.${type}`)

const shown = (type: string, body: string): string =>
  `CREATE OR REPLACE FUNCTION ${SCHEMA}.shown(${type}) RETURNS pg_catalog.text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ${body}`

const formatter = (name: string, argument: string, settings: string, body: string): string =>
  `CREATE OR REPLACE FUNCTION ${SCHEMA}.${name}(${argument}) RETURNS pg_catalog.text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
   ${settings} AS $$ BEGIN RETURN ${body}; END $$`

const PINNED_SESSION = `SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET intervalstyle = 'postgres' SET extra_float_digits = 1`

const quotedOff = `pg_catalog.btrim(pg_catalog.to_json($1)::pg_catalog.text, '"')`

/**
 * pg_trgm knows only the letters of the server's own locale, and in the embedded server's locale, C, only English ones.
 * There the letters of other alphabets are mapped to English ones. If some then look alike, the index merely returns
 * extra rows, which `q` itself filters out.
 */
const LETTERS =
  "АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЁІЇЄҐЎЉЊЋЂЏЈЅЌЃΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΆΈΉΊΌΎΏÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞßĄĆĘŁŃŚŹŻČĎĚŇŘŠŤŮŽŐŰĞİŞÿ"
const ENGLISH = "abcdefghijklmnopqrstuvwxyz0123456789"

const asEnglish = ENGLISH.repeat(10).slice(0, LETTERS.length)

/** All indexes; `lettersOfTheirOwn`: whether pg_trgm supports other alphabets here. */
export const makeFunctions = (foldCollation: string, lettersOfTheirOwn: boolean): ReadonlyArray<string> => [
  ...PLAIN.map((type) => shown(type, "$1::pg_catalog.text")),
  shown("pg_catalog.bytea", `pg_catalog.translate(pg_catalog.encode($1, 'base64'), pg_catalog.chr(10), '')`),
  formatter("shown", "pg_catalog.float4", PINNED_SESSION, "$1::pg_catalog.text"),
  formatter("shown", "pg_catalog.float8", PINNED_SESSION, "$1::pg_catalog.text"),
  formatter("shown", "pg_catalog.date", "", quotedOff),
  formatter("shown", "pg_catalog.timestamp", "", quotedOff),
  formatter(
    "shown",
    "pg_catalog.timestamptz",
    "SET timezone = 'UTC'",
    `pg_catalog.replace(${quotedOff}, '+00:00', 'Z')`,
  ),
  formatter("pinned", "pg_catalog.anyelement", PINNED_SESSION, "$1::pg_catalog.text"),
  formatter("json_text", "pg_catalog.anyarray", PINNED_SESSION, "pg_catalog.to_json($1)::pg_catalog.text"),
  `CREATE OR REPLACE FUNCTION ${searchFunction(foldCollation).sql}(pg_catalog.text[]) RETURNS pg_catalog.text
   LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
     DECLARE
       whole pg_catalog.text := pg_catalog.array_to_string($1, pg_catalog.chr(1));
     BEGIN
       IF pg_catalog.octet_length(whole) OPERATOR(pg_catalog.=) pg_catalog.length(whole) THEN
         RETURN pg_catalog.upper(whole COLLATE ${foldCollation});
       END IF;
       IF NOT pg_catalog.is_normalized(whole, 'NFC') THEN whole := pg_catalog.normalize(whole, 'NFC'); END IF;
       whole := pg_catalog.upper(whole COLLATE ${foldCollation});
       ${lettersOfTheirOwn ? "" : `whole := pg_catalog.translate(whole, '${LETTERS}', '${asEnglish}');`}
       RETURN whole;
     END $$`,
]

export const MAKE_SCHEMA: ReadonlyArray<string> = [
  `CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`,
  `GRANT USAGE ON SCHEMA ${SCHEMA} TO PUBLIC`,
]

/** The owner of the schema, unless we own it. Its owner could put functions there, to run with our privileges. */
export const FOREIGN_OWNER = `
  SELECT pg_get_userbyid(nspowner)::text AS owner FROM pg_namespace
  WHERE nspname = '${SEARCH_SCHEMA}' AND nspowner <> (SELECT oid FROM pg_roles WHERE rolname = current_user)`

/** Only if no schema has it yet. */
export const MAKE_TRIGRAMS = `CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA ${SCHEMA}`

/**
 * The schema of pg_trgm; no row if the database lacks it. `open_to`: a role, neither an administrator's nor the
 * database's owner, that may create objects there: a pg_trgm function called by name could then be that role's, run with
 * our privileges. The owner of a schema may create objects in it even if that right is currently revoked. `owner`: such a
 * role that owns the extension itself.
 */
export const TRIGRAM_SCHEMA = `
  SELECT n.nspname::text AS schema,
    (SELECT r.rolname::text FROM pg_roles r
     WHERE r.oid = e.extowner AND NOT r.rolsuper AND NOT pg_has_role(r.oid, current_user, 'MEMBER')
       AND r.oid <> (SELECT datdba FROM pg_database WHERE datname = current_database())) AS owner,
    (SELECT r.rolname::text FROM pg_roles r
     WHERE (has_schema_privilege(r.oid, n.oid, 'CREATE') OR r.oid = n.nspowner) AND NOT r.rolsuper AND r.rolname <> 'pg_database_owner'
       AND NOT pg_has_role(r.oid, current_user, 'MEMBER')
       AND r.oid <> (SELECT datdba FROM pg_database WHERE datname = current_database())
     ORDER BY r.rolname LIMIT 1) AS open_to
  FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
  WHERE e.extname = 'pg_trgm'`

/**
 * `trigrams`: pg_trgm's schema, quoted. The literal has an explicit type: without one, a function call is taken for a
 * cast if a type has its name.
 */
export const TRIGRAMS_KNOW_LETTERS = (trigrams: string): string => `
  SELECT ${trigrams}.show_trgm('ж'::pg_catalog.text) OPERATOR(pg_catalog.<>) '{}'::pg_catalog.text[] AS known`

/** $1: the oid of a table. */
export const TABLE_TO_INDEX = `
  SELECT c.relkind::text AS kind, c.relhassubclass AS heirs, pg_get_userbyid(c.relowner)::text AS owner,
    pg_has_role(c.relowner, 'USAGE') AS mine
  FROM pg_class c WHERE c.oid = $1::bigint::oid`

/** The search indexes of a table, finished or not, the oldest first; $1: its oid. */
export const SEARCH_INDEXES = `
  SELECT k.relname::text AS name, i.indisvalid AS valid, ${INDEX_FIGURES}
  FROM pg_index i
  JOIN pg_class k ON k.oid = i.indexrelid
  LEFT JOIN pg_stat_all_indexes s ON s.indexrelid = k.oid
  WHERE i.indrelid = $1::bigint::oid AND EXISTS (
    SELECT FROM pg_depend d JOIN pg_proc p ON p.oid = d.refobjid
    WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND d.refclassid = 'pg_proc'::regclass
      AND p.pronamespace = to_regnamespace('${SEARCH_SCHEMA}'))
  ORDER BY k.oid`

/** Tables that have search indexes, but none that is usable or being built; $1: the function that it would use. */
export const OUTDATED_SEARCH_INDEXES = `
  SELECT DISTINCT concat(n.nspname, '.', c.relname) COLLATE "C" AS name
  FROM pg_depend d
  JOIN pg_proc p ON p.oid = d.refobjid AND p.pronamespace = to_regnamespace('${SEARCH_SCHEMA}')
  JOIN pg_index i ON i.indexrelid = d.objid
  JOIN pg_class c ON c.oid = i.indrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_proc'::regclass
    AND NOT ${isSearchIndexed("$1")}
    AND NOT EXISTS (SELECT FROM pg_stat_progress_create_index b WHERE b.relid = c.oid)
  ORDER BY 1`

/** The first free index name of its kind for the table; $1: its oid. */
export const FREE_INDEX_NAME = `
  SELECT n.name FROM pg_class c
  CROSS JOIN LATERAL (SELECT 'cabinet_search_' || c.oid || CASE WHEN g > 1 THEN '_' || g ELSE '' END AS name, g
    FROM generate_series(1, 1000) g) n
  WHERE c.oid = $1::bigint::oid
    AND NOT EXISTS (SELECT FROM pg_class o WHERE o.relnamespace = c.relnamespace AND o.relname = n.name)
  ORDER BY n.g LIMIT 1`

/** Does not block writers. All names are quoted. */
export const buildIndex = (index: string, table: string, text: string, trigrams: string): string =>
  `CREATE INDEX CONCURRENTLY ${index} ON ${table} USING gin (${text} ${trigrams}.gin_trgm_ops)`

export const dropIndex = (index: string): string => `DROP INDEX CONCURRENTLY IF EXISTS ${index}`
