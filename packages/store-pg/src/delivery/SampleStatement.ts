/** An event to preview the body of an address with. */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { IS_DELIVERED } from "./DeliveryStatement.ts"

/** How many of a source's newest events are looked at for a sample, and how many sources. */
const SAMPLED = { events: 50, sources: 100 }

const newestOf = (where: string): string =>
  CHANNELS.map(
    (channel) => `(SELECT e.id, e.epoch, e.xid FROM (
      SELECT * FROM cabinet.event e WHERE ${where} AND e.channel = '${channel}'
      ORDER BY e.epoch DESC, e.xid DESC, e.id DESC LIMIT ${SAMPLED.events}) e
    WHERE ${IS_DELIVERED} ORDER BY e.epoch DESC, e.xid DESC, e.id DESC LIMIT 1)`,
  ).join(" UNION ALL ")

/** $1: address. The newest event that its sources have and that would be delivered. */
const NEWEST = `
  SELECT n.id FROM (
    SELECT CASE WHEN a.in_order THEN r.every_source ELSE a.every_source END AS every_source,
      CASE WHEN a.in_order THEN r.sources ELSE ARRAY(SELECT t.source_id FROM cabinet.address_source t WHERE t.address_id = a.id) END AS sources
    FROM cabinet.address a LEFT JOIN LATERAL (
      SELECT every_source, sources FROM cabinet.address_rule r WHERE r.address_id = a.id ORDER BY r.epoch DESC, r.xid DESC LIMIT 1
    ) r ON true WHERE a.id = $1::int8
  ) a CROSS JOIN LATERAL (
    SELECT n.* FROM (${newestOf("true")}) n WHERE a.every_source
    UNION ALL
    SELECT n.* FROM unnest(a.sources[1:${SAMPLED.sources}]) AS s (id) CROSS JOIN LATERAL (${newestOf("e.source_id = s.id")}) n
    WHERE NOT a.every_source
  ) n ORDER BY n.epoch DESC, n.xid DESC, n.id DESC LIMIT 1`

/** $1: address, $2: event, or null for the newest. */
export const SAMPLE_EVENT = `
  SELECT e.id::float8 AS id, e.source_id::float8 AS source_id, s.name AS source_name, cabinet.event_json(e, s.name) AS json,
    cabinet.rfc3339(e.received_at) AS created_at
  FROM cabinet.event e JOIN cabinet.source s ON s.id = e.source_id
  WHERE e.id = CASE WHEN $2::int8 IS NULL THEN (${NEWEST}) ELSE $2::int8 END`

/** An event to preview a body with. */
export interface SampleRow {
  readonly id: number
  readonly source_id: number
  readonly source_name: string
  readonly json: string
  readonly created_at: string
}
