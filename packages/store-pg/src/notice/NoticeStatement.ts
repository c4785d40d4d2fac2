/** The statements about the source of notices, and about notices sent. */

export interface SourceRow {
  readonly id: number
  readonly name: string
  readonly tableName: string | null
  readonly on: boolean
  readonly since: string
  readonly addresses: ReadonlyArray<number>
}

/** No row if they were never switched on, or their source was deleted. */
export const SOURCE = `
SELECT s.id::float8 AS id, s.name, s.table_name AS "tableName", s.archived_at IS NULL AS "on", cabinet.rfc3339(n.since) AS since,
  ARRAY(SELECT t.address_id::float8 FROM cabinet.address_source t JOIN cabinet.address a ON a.id = t.address_id
    WHERE t.source_id = s.id AND a.removed_at IS NULL AND NOT a.every_source ORDER BY 1) AS addresses
FROM cabinet.notice_source n JOIN cabinet.source s ON s.id = n.source_id WHERE s.deleted_at IS NULL`

/** No other session can switch notices until the end of the transaction. */
export const HOLD = "SELECT FROM cabinet.job_lock WHERE name = 'notices' FOR UPDATE"

/** $1: the source. */
export const BEGIN_AT = `
INSERT INTO cabinet.notice_source (source_id, since, round_at) VALUES ($1::int8, cabinet.now(), '-infinity')
ON CONFLICT (singleton) DO UPDATE SET source_id = excluded.source_id, since = excluded.since, round_at = excluded.round_at`

/** $1: the source, $2: whether it is archived. */
export const ARCHIVE = `
UPDATE cabinet.source s SET archived_at = CASE WHEN $2::boolean THEN coalesce(s.archived_at, cabinet.now()) END
WHERE s.id = $1::int8 AND s.deleted_at IS NULL`

/** $1: the source, $2: how many. */
export const LATEST = `
SELECT e.id::float8 AS "eventId", cabinet.rfc3339(e.received_at) AS at, e.payload->>'kind' AS kind,
  coalesce(e.payload->>'subject', '') AS subject, coalesce(e.payload->>'message', '') AS message
FROM (
  SELECT e.id, e.received_at, e.payload, e.epoch, e.xid FROM cabinet.event e
  WHERE e.source_id = $1::int8 AND e.channel = 'webhook' ORDER BY e.epoch DESC, e.xid DESC, e.id DESC LIMIT $2::int4
) e WHERE e.payload->>'kind' IS NOT NULL ORDER BY e.epoch DESC, e.xid DESC, e.id DESC`

/** A little less than the pause between two rounds of a process, so that each of one process finds it. */
const ROUND = "interval '45 seconds'"

/**
 * A time far ahead means that the clock was set back; a time a little ahead means that another process has claimed the
 * round.
 */
export const CLAIM_ROUND = `
UPDATE cabinet.notice_source n SET round_at = now.at
FROM (SELECT cabinet.now() AS at) now, cabinet.source s
WHERE s.id = n.source_id AND s.archived_at IS NULL AND s.deleted_at IS NULL
  AND (n.round_at <= now.at - ${ROUND} OR n.round_at > now.at + interval '1 minute')
RETURNING 1 AS one`

/** $1: kinds, $2: subjects, $3: instances. In their order. */
export const UNSENT = `
SELECT NOT EXISTS (SELECT FROM cabinet.notice t WHERE t.kind = c.kind AND t.subject = c.subject AND t.instance = c.instance) AS unsent
FROM unnest($1::text[], $2::int8[], $3::text[]) WITH ORDINALITY AS c(kind, subject, instance, n) ORDER BY c.n`

/** As above. */
export const END = `
DELETE FROM cabinet.notice t USING unnest($1::text[], $2::int8[], $3::text[]) AS c(kind, subject, instance)
WHERE t.kind = c.kind AND t.subject = c.subject AND t.instance = c.instance AND t.ends`
