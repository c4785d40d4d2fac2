/** The statements of an erasure on request. */
import { coldEvents } from "../cold/ColdColumns.ts"

/** The range of event numbers that one statement covers, and the most events and bytes that it reads. */
export const ERASURE_RANGE = 20_000
export const MAX_ERASABLE_EVENTS = 1_000
const MAX_BYTES = 4 * 1024 * 1024

const readErasable = (events: string): string => `
WITH ranged AS MATERIALIZED (
  SELECT id, repeat_of, sum(bytes) OVER (ORDER BY id) - bytes AS before, count(*) OVER () AS found
  FROM (
    SELECT id, repeat_of, bytes FROM ${events} e
    WHERE id > $1::int8 AND id <= $1::int8 + ${ERASURE_RANGE} AND purged_at IS NULL
      AND ($2::int8 IS NULL OR source_id = $2::int8)
    ORDER BY id LIMIT ${MAX_ERASABLE_EVENTS}
  ) l
)
SELECT r.id::float8 AS id, e.payload::text AS payload, f.payload::text AS "firstPayload", r.found::float8 AS found
FROM ranged r JOIN ${events} e ON e.id = r.id LEFT JOIN ${events} f ON f.id = r.repeat_of
WHERE r.before < ${MAX_BYTES} ORDER BY r.id`

/** $1: the event to begin after; $2: the source, or null. Each row also has the number of events in the range. */
export const READ_ERASABLE = readErasable("cabinet.event")
/** $3: events of files as records, in place of the rows. */
export const READ_ERASABLE_COPIES = readErasable(coldEvents("$3"))

export const LAST_EVENT = `SELECT coalesce(max(id), 0)::float8 AS id FROM cabinet.event`

/** $1: events. Counts what a purge of them removes. */
export const COUNT_ERASABLE = `
WITH firsts AS (
  SELECT id FROM unnest($1::int8[]) id
  UNION SELECT repeat_of FROM cabinet.event WHERE id = ANY ($1::int8[]) AND repeat_of IS NOT NULL
), taken AS MATERIALIZED (
  SELECT e.id, e.repeat_of, e.deleted_at, e.spam, e.original_request_id, e.received_at FROM cabinet.event e
  WHERE (e.id IN (SELECT id FROM firsts) OR e.repeat_of IN (SELECT id FROM firsts)) AND e.purged_at IS NULL
)
SELECT (count(*) FILTER (WHERE repeat_of IS NULL))::float8 AS events,
  (count(*) FILTER (WHERE repeat_of IS NOT NULL))::float8 AS repeats,
  (count(*) FILTER (WHERE repeat_of IS NULL AND deleted_at IS NULL AND spam IS NULL))::float8 AS rows,
  (count(*) FILTER (WHERE EXISTS (
    SELECT FROM cabinet.original_request o WHERE o.id = t.original_request_id AND o.received_at = t.received_at
  )))::float8 AS originals,
  (SELECT count(*) FROM cabinet.delivery d WHERE d.state = 'due' AND d.event_id IN (SELECT id FROM taken))::float8 AS deliveries
FROM taken t`
