/**
 * Sends changed events again to those who got them before. The change only writes one row per event; the follower "deliveries"
 * then makes the deliveries due in slices, of which there may be a hundred thousand per event.
 *
 * Decision: docs/decisions/0089-many-deliveries-are-written-behind-the-accept.md
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import { MADE_DUE } from "./DeliveryStatement.ts"
import { HOLD_EVENTS } from "./FanOutStatement.ts"

type Sql = PgClient.PgClient

/** The most events of one slice. */
const SLICE_EVENTS = 100

/** A successful delivery `k` whose address still exists. */
const IS_RESENDABLE = `k.state = 'delivered' AND k.type <> 'ping'
    AND EXISTS (SELECT FROM cabinet.address a WHERE a.id = k.address_id AND a.removed_at IS NULL)`

/** $1: events. */
const COUNT = `
  SELECT k.event_id::float8 AS event, count(DISTINCT k.id)::float8 AS count FROM cabinet.delivery_all k
  WHERE k.event_id = ANY ($1::int8[]) AND ${IS_RESENDABLE} GROUP BY k.event_id`

/** $1: events, none of them deleted. One that is queued already starts from its first delivery: it has changed once more. */
const QUEUE = `
  INSERT INTO cabinet.resend (event_id, at) SELECT id, cabinet.now() FROM unnest($1::int8[]) AS g(id) ORDER BY id
  ON CONFLICT (event_id) DO UPDATE SET at = excluded.at, delivery_id = 0`

/** $1: how many. */
const FIRST = "SELECT event_id::text AS event FROM cabinet.resend ORDER BY event_id LIMIT $1::int"

/**
 * $1: event, $2: how many. Deliveries that were due when the event changed are among those delivered later, which carried the
 * change; an attempt that was in flight is sent again.
 */
const RESEND = `
  WITH queued AS MATERIALIZED (SELECT event_id, at, delivery_id FROM cabinet.resend WHERE event_id = $1::int8),
  picked AS MATERIALIZED (
    SELECT DISTINCT ON (k.id) k.id, k.address_id, k.event_id, k.attempts, k.created_at, k.last_at, k.outcome
    FROM queued q JOIN cabinet.delivery_all k ON k.event_id = q.event_id
    WHERE k.event_id = $1::int8 AND k.id > q.delivery_id AND coalesce(k.last_at, '-infinity') <= q.at AND ${IS_RESENDABLE}
    ORDER BY k.id, k.attempts DESC LIMIT $2::int
  ), written AS (
    INSERT INTO cabinet.delivery AS d (id, address_id, event_id, attempts, created_at, due_at, last_at, outcome)
    SELECT p.id, p.address_id, p.event_id, p.attempts, p.created_at, cabinet.now(), p.last_at, p.outcome FROM picked p
    ON CONFLICT (id) DO UPDATE SET ${MADE_DUE} WHERE d.state <> 'due'
    RETURNING 1
  )
  SELECT count(*)::int4 AS picked, max(id)::text AS last, (SELECT count(*) FROM written)::int4 AS written FROM picked`

/** $1: what is resent in part, $2: up to this delivery. */
const PROCEED = "UPDATE cabinet.resend SET delivery_id = $2::int8 WHERE event_id = $1::int8"

/** $1: events. */
const DROP = "DELETE FROM cabinet.resend WHERE event_id = ANY ($1::int8[])"

/** How many deliveries each of the events has that would be sent again; none is missing from the map but for 0. */
export const countResent = (sql: Sql, events: ReadonlyArray<number>) =>
  Effect.map(
    sql.unsafe<{ readonly event: number; readonly count: number }>(COUNT, [int8Array(events)]),
    (rows): ReadonlyMap<number, number> => new Map(rows.map(({ event, count }) => [event, count])),
  )

/** Within the caller's transaction, which has locked the events. */
export const queueResent = (sql: Sql, events: ReadonlyArray<number>) => sql.unsafe(QUEUE, [int8Array(events)])

/**
 * Within the follower's transaction: up to `room` deliveries of the first events that no other transaction is changing. Returns how
 * many were made due, and whether there are more.
 */
export const resendSlice = Effect.fnUntraced(function* (sql: Sql, room: number) {
  const first = yield* sql.unsafe<{ readonly event: string }>(FIRST, [SLICE_EVENTS])
  if (first.length === 0) return { written: 0, more: false }
  const held = yield* sql.unsafe<{ readonly id: string }>(HOLD_EVENTS, [
    int8Array(first.map(({ event }) => BigInt(event))),
  ])
  const done: Array<bigint> = []
  let picked = 0
  let written = 0
  for (const { id } of held) {
    if (picked >= room) break
    const [slice] = yield* sql.unsafe<{
      readonly picked: number
      readonly last: string | null
      readonly written: number
    }>(RESEND, [id, room - picked])
    const isWhole = slice!.picked < room - picked
    picked += slice!.picked
    written += slice!.written
    if (isWhole) done.push(BigInt(id))
    else yield* sql.unsafe(PROCEED, [id, slice!.last])
  }
  if (done.length > 0) yield* sql.unsafe(DROP, [int8Array(done)])
  return { written, more: picked >= room || (first.length === SLICE_EVENTS && done.length > 0) }
})
