/** The statements for tokens sent to the read API. */
import { count, MINUTE, READER_SUBJECT } from "../limit/CountStatement.ts"

/**
 * The objects that the token of this alias lists, by their current names: the tables of its sources, and objects by
 * oid, where those oids are valid.
 */
export const listedObjects = (token: string): string => `
    SELECT n.nspname::text AS schema, c.relname::text AS name, c.oid::int8 AS oid
    FROM cabinet.source s
    JOIN pg_catalog.pg_namespace n ON n.nspname = 'sources'
    JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = s.table_name
    WHERE s.id = ANY (${token}.only_sources) AND s.deleted_at IS NULL
    UNION
    SELECT n.nspname::text, c.relname::text, c.oid::int8
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = ANY (${token}.only_objects) AND ${token}.only_in = cabinet.place()`

/** The list of the token `l`, as JSON: the ids of sources, and each object's schema, name and oid. */
const SCOPE = `CASE WHEN l.only_sources IS NOT NULL THEN json_build_object('sources', l.only_sources, 'objects', (
    SELECT coalesce(json_agg(o), '[]') FROM (${listedObjects("l")}) o))::text END AS scope`

/**
 * Counts requests of tokens, $2 of each of the fingerprints $1; a token that is not live has no row in the result. Those with a
 * list have it.
 */
export const COUNT_READERS = `
WITH moment AS MATERIALIZED (${MINUTE}), live AS MATERIALIZED (
  SELECT t.id, encode(t.fingerprint, 'hex') AS subject, t.role, t.only_sources, t.only_objects, t.only_in, wanted.n
  FROM unnest($1::bytea[], $2::int4[]) AS wanted(fingerprint, n)
  JOIN cabinet.access_token t ON t.fingerprint = wanted.fingerprint
  WHERE t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > (SELECT at FROM moment))
), counted AS (${count(`SELECT '${READER_SUBJECT}' || id, n FROM live`)})
SELECT l.subject, l.role, c.count, c.left_ms, ${SCOPE}
FROM counted c JOIN live l ON c.subject = '${READER_SUBJECT}' || l.id`

/** The live tokens of the fingerprints $1, with their lists. */
export const LIVE_READERS = `
SELECT encode(l.fingerprint, 'hex') AS subject, l.role, ${SCOPE}
FROM cabinet.access_token l
WHERE l.fingerprint = ANY ($1::bytea[]) AND l.revoked_at IS NULL
  AND (l.expires_at IS NULL OR l.expires_at > cabinet.now())`
