/** Reads events with their stored original requests. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { OriginalSlice, SliceQuery } from "@data-cabinet/core/event/OriginalSlice"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"

/** $1: events. The first that does not exist. */
const MISSING_EVENT = `
  SELECT g.id::text AS id FROM unnest($1::int8[]) WITH ORDINALITY AS g(id, n)
  WHERE NOT EXISTS (SELECT FROM cabinet.event e WHERE e.id = g.id) ORDER BY g.n LIMIT 1`

/** The first of the events that does not exist; null if all do. */
export const missingEvent = (
  sql: PgClient.PgClient,
  events: ReadonlyArray<number>,
): Effect.Effect<number | null, StoreUnavailable> =>
  sql.unsafe<{ readonly id: string }>(MISSING_EVENT, [int8Array(events)]).pipe(
    Effect.map(([row]) => (row === undefined ? null : Number(row.id))),
    orUnavailable,
  )

/** An original request has the time of its events, which finds its partition. `days`: the parameter with the number of days that it is shown. */
export const originalOf = (days: string): string => `cabinet.original_request o
    ON o.id = e.original_request_id AND o.received_at = e.received_at
      AND o.received_at > cabinet.now() - make_interval(hours => ${days}::int * 24)`

/** An event of a slice, in order. */
interface SlicedEvent {
  /** Epoch, transaction id and number. */
  readonly place: ReadonlyArray<string>
  /** Whether its original is kept and satisfies the condition. */
  readonly wanted: boolean
}

/**
 * The next requests of a source. $1: source, $2: days, $3: limit, $4 to $6: the place, or nulls. It begins
 * at the first event that may have its original request: times and places may differ slightly in order. `wanted`: a condition on
 * the event `e` and its original `o`.
 */
export const slicedEvents = (wanted: string): string => `
  WITH place AS MATERIALIZED (
    SELECT $4::int8 AS epoch, $5::int8 AS xid, $6::int8 AS id WHERE $4::int8 IS NOT NULL
    UNION ALL
    SELECT f.epoch, f.xid, f.id - 1 FROM cabinet.event f
    WHERE $4::int8 IS NULL
      AND f.id = cabinet.first_event_since(cabinet.now() - make_interval(hours => $2::int * 24 + 1))
  )
  SELECT ARRAY[e.epoch::text, e.xid::text, e.id::text] AS place, coalesce(o.id IS NOT NULL AND (${wanted}), false) AS wanted
  FROM (
    SELECT e.* FROM cabinet.event e
    WHERE (e.source_id, e.channel, e.epoch, e.xid, e.id)
        > ($1::int8, 'webhook', (SELECT epoch FROM place), (SELECT xid FROM place), (SELECT id FROM place))
      AND (e.source_id, e.channel) = ($1::int8, 'webhook')
    ORDER BY e.source_id, e.channel, e.epoch, e.xid, e.id LIMIT $3::int8
  ) e LEFT JOIN ${originalOf("$2")}
  ORDER BY e.epoch, e.xid, e.id`

/** Runs a statement of `slicedEvents`; `more` are the values after its own. */
export const originalSlice = (
  sql: PgClient.PgClient,
  statement: string,
  { sourceId, after, limit }: SliceQuery,
  days: number,
  ...more: ReadonlyArray<unknown>
): Effect.Effect<OriginalSlice, StoreUnavailable> =>
  sql.unsafe<SlicedEvent>(statement, [sourceId, days, limit, ...(after ?? [null, null, null]), ...more]).pipe(
    Effect.map((rows) => ({
      events: rows.filter(({ wanted }) => wanted).map(({ place }) => Number(place[2])),
      seen: rows.length,
      next: rows.length < limit ? null : rows.at(-1)!.place,
    })),
    orUnavailable,
  )
