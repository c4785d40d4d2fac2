/** The statements of undone imports. `$1` is the import. */

/** Locks the import against an acceptance that is just ending. */
export const FIND = `
SELECT m.channel, m.state, m.staged::float8 AS staged, m.accepted::float8 AS accepted, m.source_id::float8 AS source_id,
  (SELECT coalesce(sum(s.rows), 0)::float8 FROM cabinet.import_slice s WHERE s.import_id = m.id) AS recorded
FROM cabinet.import m WHERE m.id = $1`

/** $2 to $4: the actor who undoes it. */
export const BEGIN = `
INSERT INTO cabinet.import_undo (import_id, actor_kind, actor_id, actor_name) VALUES ($1, $2, $3::int8, $4)
ON CONFLICT (import_id) DO NOTHING`

/** Stops refusing the same file. */
export const ALLOW_AGAIN = "UPDATE cabinet.import SET once = false WHERE id = $1 AND once"

/** Returns no row while another process undoes a slice of it, or after its end. */
export const HOLD = `
SELECT u.position::text AS position, u.actor_kind, u.actor_id::float8 AS actor_id, u.actor_name, m.source_id::float8 AS source_id
FROM cabinet.import_undo u JOIN cabinet.import m ON m.id = u.import_id
WHERE u.import_id = $1 AND u.state = 'undoing' FOR UPDATE OF u SKIP LOCKED`

/** $2: the position. */
export const NEXT_SLICE = `
SELECT (first + rows)::text AS next, epoch::text AS epoch, xid::text AS xid, first_id::text AS first_id,
  last_id::text AS last_id
FROM cabinet.import_slice WHERE import_id = $1 AND first >= $2::int8 ORDER BY first LIMIT 1`

/** The first and the last event of slices of an import. */
export interface SliceIds {
  readonly sourceId: number
  readonly first: number | null
  readonly last: number
}

/** The events of the slice that is undone next, or of all slices. $1: import. */
export const idsOf = (which: "next" | "all"): string => `
SELECT m.source_id::float8 AS "sourceId", min(s.first_id)::float8 AS first, max(s.last_id)::float8 AS last
FROM cabinet.import m JOIN (
  SELECT * FROM cabinet.import_slice WHERE import_id = $1${
    which === "all"
      ? ""
      : ` AND first >= (SELECT u.position FROM cabinet.import_undo u WHERE u.import_id = $1)
  ORDER BY first LIMIT 1`
  }
) s ON s.import_id = m.id GROUP BY m.source_id`

/** Found by their index of positions. $1: the source, $2: the epoch, $3: the transaction, $4 and $5: the ids. */
export const EVENTS_OF_SLICE = `
SELECT e.id::text AS id, e.source_id::text AS source_id, s.table_name
FROM cabinet.event e JOIN cabinet.source s ON s.id = e.source_id
WHERE e.source_id = $1::int8 AND e.channel = 'file' AND e.epoch = $2::int8 AND e.xid = $3::int8
  AND e.id BETWEEN $4::int8 AND $5::int8 AND e.deleted_at IS NULL
ORDER BY e.id FOR UPDATE OF e`

/** $2: the position after the slice, $3: how many events were moved. */
export const ADVANCE = "UPDATE cabinet.import_undo SET position = $2::int8, events = events + $3 WHERE import_id = $1"

/** $2: the dropped columns, $3: the kept ones, with the reasons. */
export const FINISH = `
UPDATE cabinet.import_undo SET state = 'undone', columns = $2::json, kept = $3::json, finished_at = cabinet.now()
WHERE import_id = $1 AND state = 'undoing'`

export const OPEN = "SELECT import_id::float8 AS id FROM cabinet.import_undo WHERE state = 'undoing' ORDER BY import_id"

/**
 * Columns created by an event of this import, or of another undone one, and since then neither labelled nor retyped.
 */
export const CREATED_COLUMNS = `
SELECT c.name FROM cabinet.import m
JOIN cabinet.field_column c ON c.source_id = m.source_id AND c.label IS NULL AND NOT c.type_pinned
JOIN cabinet.event e ON e.id = c.created_by_event_id AND e.source_id = m.source_id AND e.channel = 'file'
WHERE m.id = $1 AND EXISTS (
  SELECT FROM cabinet.import o JOIN cabinet.import_slice s ON s.import_id = o.id
  WHERE o.source_id = m.source_id AND s.epoch = e.epoch AND s.xid = e.xid AND e.id BETWEEN s.first_id AND s.last_id
    AND (o.id = m.id OR EXISTS (SELECT FROM cabinet.import_undo u WHERE u.import_id = o.id)))
ORDER BY c.position`

/** All events of the import, as `ours`. */
const OURS = `ours AS MATERIALIZED (
  SELECT e.id, e.deleted_at IS NOT NULL AS deleted
  FROM cabinet.import m JOIN cabinet.import_slice s ON s.import_id = m.id
  JOIN cabinet.event e ON e.source_id = m.source_id AND e.channel = 'file' AND e.epoch = s.epoch AND e.xid = s.xid
    AND e.id BETWEEN s.first_id AND s.last_id
  WHERE m.id = $1
)`

/**
 * Counts the import's events. An import creates no deliveries, so few are in the range of its events. `table`: null if
 * the source has none.
 */
export const countOurs = (table: string | null): string => `
WITH ${OURS}
SELECT count(*) FILTER (WHERE NOT deleted)::float8 AS events, count(*) FILTER (WHERE deleted)::float8 AS in_trash,
  ${table === null ? "0" : `(SELECT count(*) FROM ${table} t JOIN ours o ON o.id = t._event_id)`}::float8 AS rows,
  (SELECT count(*) FROM cabinet.delivery_all d JOIN ours o ON o.id = d.event_id
   WHERE d.event_id BETWEEN (SELECT min(id) FROM ours) AND (SELECT max(id) FROM ours) AND d.state = 'delivered')::float8 AS deliveries
FROM ours`

/** Whether each column has a value in a row of another event. `names`: quoted. */
export const filledByOthers = (table: string, names: ReadonlyArray<string>): string => `
WITH ${OURS}
SELECT ARRAY[${names.map((name) => `count(${name}) > 0`).join(", ")}] AS filled
FROM ${table} t WHERE NOT EXISTS (SELECT FROM ours WHERE ours.id = t._event_id)`
