/**
 * Sends events of an address in order again, beside the order. The log has no line for each of them, so they are found in the
 * feed: those of the range that its rules sent, up to its position.
 */
import type { ResendRange } from "@data-cabinet/core/delivery/DeliveryQueue"
import type { FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import { IS_DELIVERED } from "./DeliveryStatement.ts"
import { DELIVERED_CHANNELS } from "./OrderedStatement.ts"
import { slicedFilter } from "./SlicedFilter.ts"

/** Events examined in one statement. */
const SLICE = 1_000

/**
 * $1: address. No row if it has never been ordered, or if it is an agent's, whose client reads earlier events itself.
 */
const FIRST_PLACE = `
SELECT r.epoch::text AS epoch, r.xid::text AS xid, '0' AS id FROM cabinet.address_rule r
WHERE r.address_id = $1::int8 AND NOT EXISTS (SELECT FROM cabinet.address a WHERE a.id = $1::int8 AND a.subscription IS NOT NULL)
ORDER BY r.epoch, r.xid LIMIT 1`

/**
 * $1: address, $2 to $4: the place to continue after, $5 and $6: the range. What has a delivery of its own, in the queue or
 * delivered by its first attempt, is found by that.
 */
const NEXT = `
WITH walked AS MATERIALIZED (
  SELECT * FROM (${DELIVERED_CHANNELS.map(
    (channel) => `(
    SELECT e.epoch, e.xid, e.id, e.source_id, e.received_at,
      ${IS_DELIVERED} AS sent
    FROM cabinet.event e JOIN cabinet.ordered_delivery o ON o.address_id = $1::int8 JOIN cabinet.follower f ON f.id = o.follower_id
    WHERE e.channel = '${channel}' AND (e.epoch, e.xid, e.id) > ($2::int8, $3::int8, $4::int8)
      AND (e.epoch, e.xid, e.id) <= (f.epoch, f.xid, f.event_id)
    ORDER BY e.epoch, e.xid, e.id LIMIT ${SLICE})`,
  ).join(" UNION ALL ")}) e ORDER BY e.epoch, e.xid, e.id LIMIT ${SLICE}
)
SELECT w.epoch::text AS epoch, w.xid::text AS xid, w.id::text AS id, r.sent AS sent, r.filters,
  CASE WHEN r.filters IS NOT NULL THEN (SELECT e.payload::text FROM cabinet.event e WHERE e.id = w.id) END AS payload
FROM walked w LEFT JOIN LATERAL (
  SELECT true AS sent, r.filters::text AS filters FROM (
    SELECT r.every_source, r.sources, r.filters FROM cabinet.address_rule r
    WHERE r.address_id = $1::int8 AND (r.epoch, r.xid) <= (w.epoch, w.xid) ORDER BY r.epoch DESC, r.xid DESC LIMIT 1
  ) r WHERE w.sent AND w.received_at >= $5::timestamptz AND w.received_at < $6::timestamptz
    AND (r.every_source OR w.source_id = ANY (r.sources))
    AND NOT EXISTS (SELECT FROM cabinet.delivery_all d WHERE d.event_id = w.id AND d.address_id = $1::int8)
) r ON true ORDER BY w.epoch, w.xid, w.id`

interface NextRow {
  readonly epoch: string
  readonly xid: string
  readonly id: string
  readonly sent: boolean | null
  readonly filters: string | null
  readonly payload: string | null
}

/** $1: address, $2: events. */
const SEND = `
INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at)
SELECT $1::int8, e.id, e.received_at, cabinet.now() FROM unnest($2::int8[]) AS g(id) JOIN cabinet.event e ON e.id = g.id
WHERE e.deleted_at IS NULL ORDER BY e.id`

/** Creates a delivery for each, or only counts them. Returns how many. */
export const resendOrdered = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  { addressId, from, to, only }: ResendRange,
  sends: boolean,
) {
  if (only === "failed") return 0
  let [place] = yield* sql.unsafe<Pick<NextRow, "epoch" | "xid" | "id">>(FIRST_PLACE, [addressId])
  const passes = slicedFilter()
  let total = 0
  while (place !== undefined) {
    const rows: ReadonlyArray<NextRow> = yield* sql.unsafe<NextRow>(NEXT, [
      addressId,
      place.epoch,
      place.xid,
      place.id,
      from,
      to,
    ])
    const passed: Array<bigint> = []
    for (const row of rows) {
      if (row.sent !== true) continue
      const isPassed = row.filters === null || (yield* passes(row.payload!, JSON.parse(row.filters) as FieldFilters))
      if (isPassed) passed.push(BigInt(row.id))
    }
    if (sends && passed.length > 0) yield* sql.unsafe(SEND, [addressId, int8Array(passed)])
    total += passed.length
    place = rows.length < SLICE ? undefined : rows.at(-1)
  }
  return total
})
