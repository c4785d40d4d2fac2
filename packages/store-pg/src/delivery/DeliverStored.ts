/** Creates the deliveries of stored events, as accepting them would have, by the current addresses and filters. */
import {
  type FilteredAddress,
  filteredAddress,
  filteredDeliveries,
} from "@data-cabinet/core/delivery/FilteredDeliveries"
import type { FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { boolArray, int8Array, textArray } from "../connection/Parameter.ts"
import { IS_DELIVERED } from "./DeliveryStatement.ts"
import { isForFollower, MAX_IN_ALL } from "./FanOutStatement.ts"

export interface UndeliveredEvent {
  readonly id: string
  /** Whether it was delivered when it was accepted: then only younger addresses get it. */
  readonly was_sent: boolean
}

/** $1: source. Until the end of the transaction its addresses keep their filters: a change of them changes the source. With the number of its addresses without a filter. */
const HOLD_SOURCE = `
  SELECT s.fans_out, (
    SELECT coalesce(sum(n.addresses), 0) FROM cabinet.subscription_count n WHERE n.source_id IN (0, s.id)
  )::float8 AS subscribers
  FROM cabinet.source s WHERE s.id = $1::int8 FOR SHARE OF s`

/** Whether an address `a` in order has a source. */
const inOrder = (source: string): string => `(a.in_order AND (
    SELECT r.every_source OR ${source} = ANY (r.sources) FROM cabinet.address_rule r
    WHERE r.address_id = a.id ORDER BY r.epoch DESC, r.xid DESC LIMIT 1))`

/** $1: source. Its addresses that have a filter. */
const FILTERED = `
  SELECT a.id::float8 AS id, a.filters::text AS filters FROM cabinet.address a
  WHERE a.filters IS NOT NULL AND a.removed_at IS NULL AND (a.every_source OR EXISTS (
    SELECT FROM cabinet.address_source t WHERE t.address_id = a.id AND t.source_id = $1::int8) OR ${inOrder("$1::int8")})`

/**
 * $1: source. Until the end of the transaction its addresses in order stay where they are, and who holds one reads again: an
 * event that was passed over is sent beside the order, and one that is still ahead is sent in its place.
 */
const HOLD_ORDERED = `
  WITH moved AS (
    UPDATE cabinet.follower f SET lease = f.lease + 1, leased_until = cabinet.now()
    FROM cabinet.ordered_delivery o JOIN cabinet.address a ON a.id = o.address_id
    WHERE f.id = o.follower_id AND ${inOrder("$1::int8")} RETURNING f.id
  )
  UPDATE cabinet.ordered_delivery o SET event_ids = '{}', delivery_ids = '{}' FROM moved WHERE o.follower_id = moved.id`

/** $1: events. */
const PAYLOADS = "SELECT id::text AS id, payload::text AS payload FROM cabinet.event WHERE id = ANY ($1::int8[])"

/** Whether an address `a` in order, of the source of event `e`, has passed it over. */
const IS_PASSED_OVER = `EXISTS (
      SELECT FROM cabinet.ordered_delivery o JOIN cabinet.follower f ON f.id = o.follower_id
      WHERE o.address_id = a.id AND (e.epoch, e.xid, e.id) <= (f.epoch, f.xid, f.event_id))`

/** Whether an address `a` may get an event `e` by its age. `younger`: whether those that are younger than an event get it. */
const isOfAge = (younger: string): string =>
  `(NOT g.was_sent OR a.created_at > e.received_at) AND (${younger}::bool OR a.created_at <= e.received_at)`

/**
 * $1 and $2: the events, and whether they were sent; $3 and $4: the pairs of an event and an address whose filter it passes; $5:
 * whether addresses that are younger than an event get it; $6: whether a follower creates
 * those to addresses without a filter that are not in order.
 */
const DELIVER = `
  INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at)
  SELECT a.id, e.id, cabinet.now(), cabinet.now()
  FROM unnest($1::int8[], $2::bool[]) AS g(id, was_sent) JOIN cabinet.event e ON e.id = g.id
  JOIN cabinet.address a ON a.removed_at IS NULL AND (a.every_source OR EXISTS (
    SELECT FROM cabinet.address_source s WHERE s.address_id = a.id AND s.source_id = e.source_id)
    OR ${inOrder("e.source_id")} AND ${IS_PASSED_OVER})
  WHERE ${IS_DELIVERED} AND NOT ($6::bool AND a.filters IS NULL AND NOT a.in_order)
    AND (a.filters IS NULL OR cardinality($3::int8[]) > 0 AND EXISTS (
      SELECT FROM unnest($3::int8[], $4::int8[]) AS p(event_id, address_id) WHERE p.event_id = e.id AND p.address_id = a.id))
    AND ${isOfAge("$5")}
    AND NOT EXISTS (SELECT FROM cabinet.delivery_all d WHERE d.event_id = e.id AND d.address_id = a.id)
  ORDER BY e.id
  RETURNING 1 AS one`

/**
 * $1 and $2: the events, and whether they were sent; $3: for each the addresses whose filter it passes, which are those of its
 * source; $4: whether addresses that are younger than an event get it. A follower creates their deliveries, and those that it is
 * still to create of these events for other reasons.
 */
const QUEUE_FILTERED = `
  INSERT INTO cabinet.filtered_fan_out AS q (event_id, at, address_ids)
  SELECT e.id, cabinet.now(), p.ids
  FROM unnest($1::int8[], $2::bool[], $3::text[]) AS g(id, was_sent, passed) JOIN cabinet.event e ON e.id = g.id
  CROSS JOIN LATERAL (
    SELECT array_agg(a.id ORDER BY a.id) AS ids
    FROM (SELECT unnest(g.passed::int8[]) AS id EXCEPT SELECT d.address_id FROM cabinet.delivery_all d WHERE d.event_id = e.id) n
    JOIN cabinet.address a ON a.id = n.id AND a.removed_at IS NULL
    WHERE ${isOfAge("$4")} AND (NOT a.in_order OR ${IS_PASSED_OVER})
  ) p
  WHERE ${IS_DELIVERED} AND p.ids IS NOT NULL ORDER BY e.id
  ON CONFLICT (event_id) DO UPDATE SET address_ids =
    ARRAY(SELECT unnest(q.address_ids) UNION SELECT unnest(excluded.address_ids) ORDER BY 1)
  RETURNING cardinality(address_ids) AS count`

/** $1: events. The follower will not repeat for them what is written here. */
const AGAIN = "UPDATE cabinet.fan_out SET again = true WHERE event_id = ANY ($1::int8[])"

/**
 * $1 and $2: the events, and whether they were sent; $3: whether addresses that are younger than an event get it. A
 * follower creates the deliveries to addresses without a filter. Their own number puts them after those of the accept,
 * and among the changes of addresses.
 */
const FAN_OUT = `
  WITH queued AS (
    INSERT INTO cabinet.fan_out (as_of, event_id, source_id, at, again, younger)
    SELECT nextval('cabinet.event_id'), e.id, e.source_id, cabinet.now(), true, CASE WHEN g.was_sent THEN true WHEN NOT $3::bool THEN false END
    FROM unnest($1::int8[], $2::bool[]) AS g(id, was_sent) JOIN cabinet.event e ON e.id = g.id
    WHERE ${IS_DELIVERED} AND ($3::bool OR NOT g.was_sent)
    ORDER BY e.id
    RETURNING source_id, younger
  )
  SELECT count(*)::float8 AS count FROM queued q
  JOIN cabinet.subscription n ON n.source_id IN (0, q.source_id) AND n.until_event IS NULL
  WHERE q.younger IS NOT TRUE`

type Sql = PgClient.PgClient

/** Events whose payloads are read at once. */
const READ_EVENTS = 100

/** Those of the events that pass a filter, with the addresses. */
const passedOf = Effect.fnUntraced(function* (sql: Sql, sourceId: number, ids: ReadonlyArray<string>) {
  const passed = new Map<string, ReadonlyArray<number>>()
  const filtered = yield* sql.unsafe<{ readonly id: number; readonly filters: string }>(FILTERED, [sourceId])
  if (filtered.length === 0) return passed
  const addresses = filtered.map(({ id, filters }): FilteredAddress =>
    filteredAddress(id, JSON.parse(filters) as FieldFilters),
  )
  for (let from = 0; from < ids.length; from += READ_EVENTS) {
    const read = int8Array(ids.slice(from, from + READ_EVENTS).map(BigInt))
    const stored = yield* sql.unsafe<{ readonly id: string; readonly payload: string }>(PAYLOADS, [read])
    for (const { id, payload } of stored) {
      const event = { payload: ownJson(payload) as JsonObject }
      const { filtered: decided } = yield* Effect.promise(() => filteredDeliveries(addresses, [event]))
      if (decided!.passed[0]!.length > 0) passed.set(id, decided!.passed[0]!)
    }
  }
  return passed
})

/**
 * Within the caller's transaction, which has locked the events. Unless `toYounger`, only addresses that were there when an event
 * was accepted get it. Returns how many deliveries were created; those that a follower creates are counted as for new events.
 */
export const deliverStored = Effect.fnUntraced(function* (
  sql: Sql,
  sourceId: number,
  events: ReadonlyArray<UndeliveredEvent>,
  toYounger = true,
) {
  if (events.length === 0) return 0
  const ids = int8Array(events.map(({ id }) => BigInt(id)))
  const [source] = yield* sql.unsafe<{ readonly fans_out: boolean; readonly subscribers: number }>(HOLD_SOURCE, [
    sourceId,
  ])
  yield* sql.unsafe(HOLD_ORDERED, [sourceId])
  yield* sql.unsafe(AGAIN, [ids])
  // Of many events even a few addresses have more deliveries than one transaction should write.
  const fansOut = source !== undefined && (source.fans_out || events.length * source.subscribers > MAX_IN_ALL)
  const sent = boolArray(events.map((event) => event.was_sent))
  const passed = yield* passedOf(
    sql,
    sourceId,
    events.map(({ id }) => id),
  )
  const isQueued = isForFollower(passed.values())
  const pairs = isQueued ? [] : [...passed].flatMap(([event, its]) => its.map((id) => [BigInt(event), id] as const))
  const made = yield* sql.unsafe(DELIVER, [
    ids,
    sent,
    int8Array(pairs.map(([event]) => event)),
    int8Array(pairs.map(([, address]) => address)),
    toYounger,
    fansOut,
  ])
  let count = made.length
  if (isQueued) {
    const its = events.map(({ id }) => `{${(passed.get(id) ?? []).join(",")}}`)
    const rows = yield* sql.unsafe<{ readonly count: number }>(QUEUE_FILTERED, [ids, sent, textArray(its), toYounger])
    for (const row of rows) count += row.count
  }
  if (!fansOut) return count
  const [queued] = yield* sql.unsafe<{ readonly count: number }>(FAN_OUT, [ids, sent, toYounger])
  return count + queued!.count
})
