/**
 * The statements of trash and purge. `$1` is always the events' ids.
 *
 * Decision: docs/decisions/0010-what-deletion-removes.md
 */

export const FIND_EVENTS = `
SELECT e.id::text AS id, e.source_id::text AS source_id, s.table_name
FROM cabinet.event e JOIN cabinet.source s ON s.id = e.source_id
WHERE e.id = ANY ($1::int8[]) AND e.source_id = $2::int8
ORDER BY e.id FOR UPDATE OF e`

/** A repeat holds the same body as its first: a purge erases it in both. */
export const FIND_WITH_REPEATS = `
WITH firsts AS (
  SELECT id FROM unnest($1::int8[]) id
  UNION SELECT repeat_of FROM cabinet.event WHERE id = ANY ($1::int8[]) AND repeat_of IS NOT NULL
)
SELECT e.id::text AS id, e.source_id::text AS source_id, s.table_name
FROM cabinet.event e JOIN cabinet.source s ON s.id = e.source_id
WHERE e.id IN (SELECT id FROM firsts) OR e.repeat_of IN (SELECT id FROM firsts)
ORDER BY e.id FOR UPDATE OF e`

/** $1: source ids. Writers of deferred rows lock the source too: a row is either visible here or never written. */
export const LOCK_SOURCES = `SELECT 1 FROM cabinet.source WHERE id = ANY ($1::int8[]) ORDER BY id FOR UPDATE`

/**
 * The trigger on deleted_at cancels the deliveries not yet made. $2 to $4: who trashed the events. Returns how many were
 * not in the trash before.
 */
export const MOVE_TO_TRASH = `
WITH moved AS (
  UPDATE cabinet.event SET deleted_at = cabinet.now() WHERE id = ANY ($1::int8[]) AND deleted_at IS NULL
  RETURNING id, source_id, deleted_at
), listed AS (
  INSERT INTO cabinet.trashed_event AS t (event_id, source_id, at, actor_kind, actor_id, actor_name)
  SELECT id, source_id, deleted_at, $2::text, $3::int8, $4::text FROM moved
  ON CONFLICT (event_id) DO UPDATE
    SET at = excluded.at, actor_kind = excluded.actor_kind, actor_id = excluded.actor_id, actor_name = excluded.actor_name
)
SELECT count(*)::float8 AS moved FROM moved`

/** Removes events from the list of the trash. */
export const TAKE_FROM_TRASH = `DELETE FROM cabinet.trashed_event WHERE event_id = ANY ($1::int8[])`

export const SET_UNDELETED = `
UPDATE cabinet.event SET deleted_at = NULL
WHERE id = ANY ($1::int8[]) AND deleted_at IS NOT NULL AND purged_at IS NULL RETURNING id::text AS id`

/** Makes spam outside the trash ordinary events. */
export const SET_ORDINARY = `
UPDATE cabinet.event SET spam = NULL
WHERE id = ANY ($1::int8[]) AND spam IS NOT NULL AND deleted_at IS NULL RETURNING id::text AS id`

export const QUEUE_ROWS = `
WITH queued AS (
  INSERT INTO cabinet.deferred_row (event_id, source_id)
  SELECT e.id, e.source_id FROM cabinet.event e WHERE e.id = ANY ($1::int8[]) AND e.repeat_of IS NULL AND e.spam IS NULL
  ON CONFLICT DO NOTHING RETURNING 1
)
UPDATE cabinet.source SET rows_deferred = true WHERE id = $2::int8 AND EXISTS (SELECT FROM queued)`

/** Ends the deferral and retries of their rows. */
export const DELETE_DEFERRED_ROWS = `
WITH set_aside AS (DELETE FROM cabinet.row_set_aside WHERE event_id = ANY ($1::int8[]))
DELETE FROM cabinet.deferred_row WHERE event_id = ANY ($1::int8[])`

/** Removes the marks "read" and "done" that people set. */
export const DELETE_MARKS = `DELETE FROM cabinet.inbox_mark WHERE event_id = ANY ($1::int8[])`

export const ERASE_ORIGINALS = `
DELETE FROM cabinet.original_request o USING cabinet.event e
WHERE e.id = ANY ($1::int8[]) AND o.id = e.original_request_id AND o.received_at = e.received_at`

export const ERASE_REPEAT_WINDOWS = `DELETE FROM cabinet.repeat_window WHERE first_id = ANY ($1::int8[])`

export const ERASE_RESPONSE_BODIES = `
UPDATE cabinet.attempt a SET response_body = NULL
FROM cabinet.delivery_all d WHERE d.event_id = ANY ($1::int8[]) AND a.delivery_id = d.id AND a.response_body IS NOT NULL`

export const ERASE_EVENTS = `
UPDATE cabinet.event SET payload = '{}', original_request_id = NULL, purged_at = coalesce(purged_at, cabinet.now()),
                         deleted_at = coalesce(deleted_at, cabinet.now())
WHERE id = ANY ($1::int8[]) RETURNING 1`
