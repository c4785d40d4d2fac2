/**
 * The rows that could not be planned because of a defect in the program: kept separately, so that no other row waits for
 * them.
 */

/** $1: event, $2: source, $3: the reason in words. */
export const SET_ASIDE = `
INSERT INTO cabinet.row_set_aside (event_id, source_id, reason) VALUES ($1::int8, $2, $3)
ON CONFLICT (event_id) DO UPDATE SET reason = excluded.reason, set_aside_at = excluded.set_aside_at`

/** Defers all of them again: a newer program may be able to plan them. */
export const RETRY_SET_ASIDE = `
WITH again AS (
  DELETE FROM cabinet.row_set_aside RETURNING event_id, source_id
), queued AS (
  INSERT INTO cabinet.deferred_row (event_id, source_id) SELECT event_id, source_id FROM again
  ON CONFLICT DO NOTHING
)
UPDATE cabinet.source SET rows_deferred = true WHERE id IN (SELECT source_id FROM again)`

/** The oldest of them, and their number. */
export const ROWS_SET_ASIDE = `
SELECT event_id::float8 AS "eventId", source_id::float8 AS "sourceId", reason, count(*) OVER ()::int4 AS total
FROM cabinet.row_set_aside ORDER BY event_id LIMIT 5`
