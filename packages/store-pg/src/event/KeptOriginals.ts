/** Statements over events and the original requests that are kept of them. */

/** $1: events. The first that does not exist. */
export const MISSING_EVENT = `
  SELECT g.id::text AS id FROM unnest($1::int8[]) WITH ORDINALITY AS g(id, n)
  WHERE NOT EXISTS (SELECT FROM cabinet.event e WHERE e.id = g.id) ORDER BY g.n LIMIT 1`

/** An original request has the time of its events, which finds its partition. `days`: a placeholder for how long it is shown. */
export const originalOf = (days: string): string => `cabinet.original_request o
    ON o.id = e.original_request_id AND o.received_at = e.received_at
      AND o.received_at > cabinet.now() - make_interval(hours => ${days}::int * 24)`

/** An event of a slice, in order. */
export interface SlicedEvent {
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

/** The parameters of a slice that begins after this place; null for the first. */
export const sliceValues = (
  sourceId: number,
  days: number,
  limit: number,
  after: ReadonlyArray<string> | null,
): ReadonlyArray<unknown> => [sourceId, days, limit, ...(after ?? [null, null, null])]

/** The wanted events of a slice, how many it has, and its last place if more may follow. */
export const sliceOf = (rows: ReadonlyArray<SlicedEvent>, limit: number) => ({
  events: rows.filter(({ wanted }) => wanted).map(({ place }) => Number(place[2])),
  seen: rows.length,
  next: rows.length < limit ? null : rows.at(-1)!.place,
})
