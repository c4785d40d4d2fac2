/** The statements of inboxes. */

/** $1: events. */
export const MARKS = `
SELECT event_id::float8 AS id, read_at IS NOT NULL AS read, done_at IS NOT NULL AS done
FROM cabinet.inbox_mark WHERE event_id = ANY ($1::int8[])`

/** $1: events. $2: their source. Returns those that can be marked, and keeps them from the trash until the marks are set. */
export const LOCK_MESSAGES = `
SELECT id::float8 AS id FROM cabinet.event
WHERE id = ANY ($1::int8[]) AND source_id = $2::int8 AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE`

const set = (column: string, to: string): string =>
  `CASE WHEN ${to}::boolean IS NULL THEN m.${column} WHEN ${to}::boolean THEN coalesce(m.${column}, cabinet.now()) END`

const changes = (column: string, to: string): string =>
  `(${to}::boolean IS NOT NULL AND (m.${column} IS NOT NULL) <> ${to}::boolean)`

/** $1: events. $2: whether they are read, $3: whether they are done; NULL leaves a mark. Returns those that changed. */
export const SET_MARKS = `
WITH changed AS (
  UPDATE cabinet.inbox_mark m SET read_at = ${set("read_at", "$2")}, done_at = ${set("done_at", "$3")}
  WHERE m.event_id = ANY ($1::int8[]) AND (${changes("read_at", "$2")} OR ${changes("done_at", "$3")})
  RETURNING m.event_id
), made AS (
  INSERT INTO cabinet.inbox_mark (event_id, read_at, done_at)
  SELECT w.id, CASE WHEN $2::boolean THEN cabinet.now() END, CASE WHEN $3::boolean THEN cabinet.now() END
  FROM unnest($1::int8[]) AS w (id)
  WHERE ($2::boolean IS TRUE OR $3::boolean IS TRUE) AND NOT EXISTS (SELECT FROM cabinet.inbox_mark m WHERE m.event_id = w.id)
  RETURNING event_id
)
SELECT ((SELECT count(*) FROM changed) + (SELECT count(*) FROM made))::float8 AS changed`

/**
 * The number of sources (the newest) whose fields are examined, and the number of fields of each. Every page of the
 * inbox reads them.
 */
const [MOST_SOURCES, MOST_FIELDS] = [1_000, 60]

const came = (channel: string): string =>
  `EXISTS (SELECT FROM cabinet.event e WHERE e.source_id = looked_at.source_id AND e.channel = '${channel}')`

/**
 * $1: patterns of names of fields, in lower case. Returns the first fields of the sources that have one of these. Those that
 * only files were imported into are left out, because files contain data and not messages.
 */
export const fieldsStatement = (foldCollation: string): string => `
WITH looked_at AS MATERIALIZED (
  SELECT c.source_id, c.position, c.field
  FROM (
    SELECT id FROM cabinet.source WHERE deleted_at IS NULL AND archived_at IS NULL ORDER BY id DESC LIMIT ${MOST_SOURCES}
  ) s CROSS JOIN LATERAL (
    SELECT source_id, position, field FROM cabinet.field_column
    WHERE source_id = s.id AND position <= ${MOST_FIELDS} OFFSET 0
  ) c
)
SELECT source_id::float8 AS source, array_agg(field ORDER BY position) AS fields FROM looked_at
WHERE source_id IN (
  SELECT source_id FROM looked_at WHERE lower(translate(field, '-_ .', '') COLLATE ${foldCollation}) LIKE ANY ($1::text[]))
GROUP BY source_id
HAVING NOT ${came("file")} OR ${came("webhook")}`

const isMessage = "w.spam IS NULL AND w.repeat_of IS NULL AND w.deleted_at IS NULL"

/**
 * $1: source. $2: time zone. $3: days, today included. $4: the most events to count. `whole`: whether these days have no
 * more events. The walk is that of the event list, from the newest back.
 */
export const FIGURES = `
WITH walked AS MATERIALIZED (
  SELECT e.id, e.received_at, e.repeat_of, e.deleted_at, e.spam FROM cabinet.event e
  WHERE e.source_id = $1::int8 AND e.channel = 'webhook'
  ORDER BY e.source_id DESC, e.channel DESC, e.epoch DESC, e.xid DESC, e.id DESC LIMIT $4::int8
), today AS (
  SELECT (cabinet.now() AT TIME ZONE $2::text)::date AS day
), counted AS (
  SELECT (w.received_at AT TIME ZONE $2::text)::date AS day,
    count(*) FILTER (WHERE ${isMessage}) AS messages,
    count(*) FILTER (WHERE ${isMessage} AND m.event_id IS NULL) AS unread,
    count(*) FILTER (WHERE w.spam = 'honeypot') AS honeypot,
    count(*) FILTER (WHERE w.spam = 'origin') AS origin,
    count(*) FILTER (WHERE w.spam NOT IN ('honeypot', 'origin')) AS proof
  FROM walked w LEFT JOIN cabinet.inbox_mark m ON m.event_id = w.id AND (m.read_at IS NOT NULL OR m.done_at IS NOT NULL)
  GROUP BY 1
)
SELECT d.day::date::text AS day, coalesce(c.messages, 0)::float8 AS messages, coalesce(c.unread, 0)::float8 AS unread,
  coalesce(c.honeypot, 0)::float8 AS honeypot, coalesce(c.origin, 0)::float8 AS origin,
  coalesce(c.proof, 0)::float8 AS proof,
  (SELECT cabinet.rfc3339(min(w.received_at)) FROM walked w HAVING count(*) = $4::int8
    AND (min(w.received_at) AT TIME ZONE $2::text)::date > (SELECT day FROM today) - $3::int4) AS since
FROM generate_series((SELECT day FROM today) - ($3::int4 - 1), (SELECT day FROM today), interval '1 day') AS d (day)
  LEFT JOIN counted c ON c.day = d.day::date
ORDER BY d.day`
