/**
 * Statements for what `cabinet table search-index` creates: the functions of schema `cabinet_search`, and an index on a table.
 * These functions run in all kinds of sessions, so nothing in them depends on the search path. They call no pg_trgm function
 * by name where others could create a function of that name.
 */
import { SEARCH_SCHEMA, searchFunction } from "@data-cabinet/core/row/SearchSql"
import { composed } from "@data-cabinet/core/selection/FoldedText"
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
 * pg_trgm knows only the letters of the server's locale; in the embedded server's locale, C, these are the English ones.
 * There, the letters of other alphabets are mapped to English letters. If two letters map to the same one, the index merely
 * returns extra rows, which `q` filters out.
 */
const LETTERS =
  "АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЁІЇЄҐЎЉЊЋЂЏЈЅЌЃΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΆΈΉΊΌΎΏÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞßĄĆĘŁŃŚŹŻČĎĚŇŘŠŤŮŽŐŰĞİŞÿ"
const ENGLISH = "abcdefghijklmnopqrstuvwxyz0123456789"

const asEnglish = ENGLISH.repeat(10).slice(0, LETTERS.length)

/** The functions for all indexes; `lettersOfTheirOwn`: whether pg_trgm supports other alphabets here. */
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
       whole := pg_catalog.upper(${composed("whole")} COLLATE ${foldCollation});
       ${lettersOfTheirOwn ? "" : `whole := pg_catalog.translate(whole, '${LETTERS}', '${asEnglish}');`}
       RETURN whole;
     END $$`,
]

export const MAKE_SCHEMA: ReadonlyArray<string> = [
  `CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`,
  `GRANT USAGE ON SCHEMA ${SCHEMA} TO PUBLIC`,
]

/** Finds an owner of the schema other than us. Such an owner could put functions there that run with our privileges. */
export const FOREIGN_OWNER = `
  SELECT pg_get_userbyid(nspowner)::text AS owner FROM pg_namespace
  WHERE nspname = '${SEARCH_SCHEMA}' AND nspowner <> (SELECT oid FROM pg_roles WHERE rolname = current_user)`

/** Creates pg_trgm unless the database already has it in some schema. */
export const MAKE_TRIGRAMS = `CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA ${SCHEMA}`

/**
 * Finds the schema of pg_trgm; returns no row if the database lacks it. `open_to` is a role that may create objects there
 * and is neither an administrator nor the database's owner. A pg_trgm function called by name could then be that role's, and
 * run with our privileges. The owner of a schema counts even while its right is revoked. `owner` is such a role that owns
 * the extension itself.
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
 * `trigrams` is pg_trgm's quoted schema. The literal needs an explicit type: without one, PostgreSQL takes the call for a cast
 * if a type has the function's name.
 */
export const TRIGRAMS_KNOW_LETTERS = (trigrams: string): string => `
  SELECT ${trigrams}.show_trgm('ж'::pg_catalog.text) OPERATOR(pg_catalog.<>) '{}'::pg_catalog.text[] AS known`

/** $1: the oid of a table. */
export const TABLE_TO_INDEX = `
  SELECT c.relkind::text AS kind, c.relhassubclass AS heirs, pg_get_userbyid(c.relowner)::text AS owner,
    pg_has_role(c.relowner, 'USAGE') AS mine
  FROM pg_class c WHERE c.oid = $1::bigint::oid`

/** Lists the search indexes of a table, finished or not, oldest first; $1: the table's oid. */
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

/** Lists tables whose search indexes are all unusable, with none being built; $1: the function that a usable one would call. */
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

/** Finds the first free name for a search index of the table; $1: the table's oid. */
export const FREE_INDEX_NAME = `
  SELECT n.name FROM pg_class c
  CROSS JOIN LATERAL (SELECT 'cabinet_search_' || c.oid || CASE WHEN g > 1 THEN '_' || g ELSE '' END AS name, g
    FROM generate_series(1, 1000) g) n
  WHERE c.oid = $1::bigint::oid
    AND NOT EXISTS (SELECT FROM pg_class o WHERE o.relnamespace = c.relnamespace AND o.relname = n.name)
  ORDER BY n.g LIMIT 1`

/** Builds without blocking writers. Expects quoted names. */
export const buildIndex = (index: string, table: string, text: string, trigrams: string): string =>
  `CREATE INDEX CONCURRENTLY ${index} ON ${table} USING gin (${text} ${trigrams}.gin_trgm_ops)`

export const dropIndex = (index: string): string => `DROP INDEX CONCURRENTLY IF EXISTS ${index}`
