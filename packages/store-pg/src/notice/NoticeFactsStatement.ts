/** The statements that find the facts for notices. $1 is the source of notices; $2, if present, since when. */
import { MOST_WAITING } from "@data-cabinet/core/activity/ActivityStore"
import type * as Fact from "@data-cabinet/core/notice/NoticeFacts"

/** An address `a`, and whether it is subscribed to the source of notices by name. */
const ADDRESS = `a.id::float8 AS id, a.url, NOT a.every_source AND EXISTS (
    SELECT FROM cabinet.address_source t WHERE t.address_id = a.id AND t.source_id = $1::int8) AS carries`

/** One-time causes are searched for in this many past days. */
const LOOKED_BACK = "greatest($2::timestamptz, (SELECT cabinet.now()) - interval '30 days')"

/** An attempt is logged under the time of its claim, a moment before its address begins to fail. */
const CLAIMED_WITHIN = "interval '1 minute'"

export const FAILING = `
SELECT ${ADDRESS}, cabinet.rfc3339(a.failing_since) AS since, extract(epoch FROM clock.now - a.failing_since)::float8 AS seconds,
  l.status, l.failure
FROM cabinet.address a CROSS JOIN (SELECT cabinet.now()) clock (now) LEFT JOIN LATERAL (
  SELECT t.status, t.failure FROM cabinet.attempt_failed t
  WHERE t.address_id = a.id AND t.at >= a.failing_since - ${CLAIMED_WITHIN} ORDER BY t.at DESC LIMIT 1
) l ON true
WHERE a.removed_at IS NULL AND a.paused_at IS NULL AND a.failing_since IS NOT NULL ORDER BY a.id`

/** A URL that was changed, or an address that was resumed, has not recovered by that. */
export const RECOVERED = `
SELECT ${ADDRESS}, cabinet.rfc3339(n.since) AS since, cabinet.rfc3339(d.at) AS at
FROM (
  SELECT DISTINCT f.subject, f.since FROM cabinet.notice f WHERE f.kind = 'address.failing' AND NOT EXISTS (
    SELECT FROM cabinet.notice r WHERE r.kind = 'address.recovered' AND r.subject = f.subject AND r.since = f.since)
) n JOIN cabinet.address a ON a.id = n.subject AND a.removed_at IS NULL AND a.failing_since IS DISTINCT FROM n.since
CROSS JOIN LATERAL (
  SELECT t.at FROM cabinet.attempt_delivered t
  WHERE t.address_id = a.id AND t.at >= n.since - ${CLAIMED_WITHIN} ORDER BY t.at LIMIT 1
) d ORDER BY n.since, a.id`

/** The audit log has the person who paused it. */
export const PAUSED = `
SELECT ${ADDRESS}, cabinet.rfc3339(a.paused_at) AS since, a.paused_because AS reason, w.actor_name AS by
FROM cabinet.address a LEFT JOIN LATERAL (
  SELECT u.actor_name FROM cabinet.audit u
  WHERE u.action = 'address.pause' AND u.object = 'address ' || a.id AND u.at BETWEEN a.paused_at - interval '1 minute' AND a.paused_at
  ORDER BY u.at DESC LIMIT 1
) w ON a.paused_because IS NULL
WHERE a.removed_at IS NULL AND a.paused_at > ${LOOKED_BACK} AND NOT EXISTS (
  SELECT FROM cabinet.notice n WHERE n.kind = 'address.paused' AND n.subject = a.id AND n.since = a.paused_at)
ORDER BY a.paused_at, a.id`

/** A failing address sends its retries one by one, so none counts as late. */
export const WAITING = `
SELECT ${ADDRESS}, w.waiting::int4 AS count, cabinet.rfc3339(w.oldest) AS oldest, CASE WHEN a.failing_since IS NOT NULL THEN 0
    ELSE greatest(coalesce(extract(epoch FROM clock.now - w.due), 0), 0) END::float8 AS "lateSeconds"
FROM cabinet.address a CROSS JOIN (SELECT cabinet.now()) clock (now) CROSS JOIN LATERAL (
  SELECT count(*) AS waiting, min(d.created_at) AS oldest,
    min(d.due_at) FILTER (WHERE d.leased_until IS NULL OR d.leased_until <= clock.now) AS due
  FROM (
    SELECT d.created_at, d.due_at, d.leased_until FROM cabinet.delivery d
    WHERE d.address_id = a.id AND d.state = 'due' ORDER BY d.due_at LIMIT ${MOST_WAITING}
  ) d
) w WHERE a.removed_at IS NULL AND a.paused_at IS NULL AND w.waiting > 0 ORDER BY a.id`

export interface CertificateRow {
  readonly origin: string
  readonly endsAt: string
  readonly seconds: number
}

/** The receivers' certificates that end soon. */
export const CERTIFICATES = `
SELECT c.origin, cabinet.rfc3339(c.ends_at) AS "endsAt", extract(epoch FROM c.ends_at - clock.now)::float8 AS seconds
FROM cabinet.receiver_certificate c CROSS JOIN (SELECT cabinet.now()) clock (now)
WHERE c.ends_at < clock.now + interval '15 days' ORDER BY c.origin`

export const SECURE_ADDRESSES = `
SELECT ${ADDRESS} FROM cabinet.address a
WHERE a.removed_at IS NULL AND a.paused_at IS NULL AND a.url LIKE 'https:%' ORDER BY a.id`

export interface ClientCertificateRow extends Fact.CertificateFact {
  readonly pem: string
}

/** The client certificates of addresses that end soon. */
export const CLIENT_CERTIFICATES = `
SELECT ${ADDRESS}, a.client_certificate AS pem, cabinet.rfc3339(a.client_certificate_ends_at) AS "endsAt",
  extract(epoch FROM a.client_certificate_ends_at - clock.now)::float8 AS seconds
FROM cabinet.address a CROSS JOIN (SELECT cabinet.now()) clock (now)
WHERE a.removed_at IS NULL AND a.paused_at IS NULL AND a.client_certificate_ends_at < clock.now + interval '15 days' ORDER BY a.id`

export const POLLS = `
SELECT p.id::float8 AS id, p.url, p.source_id::float8 AS "sourceId", s.name AS "sourceName", cabinet.rfc3339(p.failing_since) AS since,
  p.failures, l.status, l.failure
FROM cabinet.poll p JOIN cabinet.source s ON s.id = p.source_id AND s.deleted_at IS NULL LEFT JOIN LATERAL (
  SELECT r.status, r.failure FROM cabinet.poll_run r WHERE r.poll_id = p.id AND r.outcome = 'failed' ORDER BY r.id DESC LIMIT 1
) l ON true
WHERE p.removed_at IS NULL AND p.paused_at IS NULL AND p.failures > 0 AND p.failing_since IS NOT NULL AND p.source_id <> $1::int8
ORDER BY p.id`

/** An import refused before it was accepted was reported to its submitter; a cancelled one has not failed by itself. */
export const IMPORTS = `
SELECT m.id::float8 AS id, m.name, m.source_id::float8 AS "sourceId", s.name AS "sourceName", cabinet.rfc3339(m.finished_at) AS at,
  m.staged::float8 AS staged, m.accepted::float8 AS accepted, coalesce(m.failure, '') AS failure
FROM cabinet.import m JOIN cabinet.source s ON s.id = m.source_id AND s.deleted_at IS NULL
WHERE m.state = 'failed' AND m.cancelled_at IS NULL AND m.staged > 0 AND m.finished_at > ${LOOKED_BACK} AND m.source_id <> $1::int8
  AND NOT EXISTS (SELECT FROM cabinet.notice n WHERE n.kind = 'import.failed' AND n.subject = m.id)
ORDER BY m.id LIMIT 1000`

/** An accept records the event for which it created a column; columns of the notices' own source do not count. */
export const COLUMNS = `
SELECT c.source_id::float8 AS "sourceId", s.name AS "sourceName", c.created_by_event_id::float8 AS "eventId", c.name AS "column",
  c.field, c.type, c.is_sibling AS "isSibling", cabinet.rfc3339(c.created_at) AS at
FROM (
  SELECT c.*, EXISTS (SELECT FROM cabinet.field_column o
    WHERE o.source_id = c.source_id AND o.field = c.field AND o.position < c.position) AS is_sibling
  FROM cabinet.field_column c
  WHERE c.created_at > ${LOOKED_BACK} AND c.created_by_event_id IS NOT NULL AND c.source_id <> $1::int8
) c JOIN cabinet.source s ON s.id = c.source_id AND s.deleted_at IS NULL
WHERE NOT EXISTS (SELECT FROM cabinet.notice n
  WHERE n.kind = CASE WHEN c.is_sibling THEN 'type.created' ELSE 'column.created' END
    AND n.subject = c.source_id AND n.instance = c.created_by_event_id::text)
ORDER BY c.created_by_event_id, c.position LIMIT 1000`

export const OPEN = `SELECT kind, subject::float8 AS subject, instance FROM cabinet.notice WHERE ends ORDER BY kind, subject, instance`
