/**
 * The statement of a slice of the event list. It walks the feed's own indexes backwards, one scan per channel, so that
 * lists add no cost to accepting. It returns the matching ones among the events that it examines.
 *
 * Decision: docs/decisions/0046-lists-walk-the-feeds-indexes.md
 */
import { IS_DELIVERED } from "../delivery/DeliveryStatement.ts"
import { type Channel, CHANNELS, type SpamReason } from "@data-cabinet/core/event/EventLog"
import type { EventFilter, EventPlace, ListedEvent } from "@data-cabinet/core/event/EventListStore"
import { coldEvents } from "../cold/ColdColumns.ts"
import { eventConditions, Values } from "./EventListConditions.ts"
import { PAGE_BYTES } from "@data-cabinet/core/pagination/Page"

/** The most bytes of payloads that a slice reads to find a text or a mark. */
const READ_BYTES = 32 * 1024 * 1024

/** The most by which times and positions may disagree: an accept in progress, or a changed clock. */
const DISORDER = "interval '1 hour'"

/** A row of a slice: an event to show or, at the end, the last one examined. */
export interface SliceRow {
  readonly place: EventPlace
  readonly received_at: string
  readonly matched: boolean
  /** Null if the page is full. */
  readonly event: string | null
  readonly id: number
  /** The number of events examined, and the number that the walk found. */
  readonly seen: number
  readonly walked: number
  /** Whether this event, and so all that follow, are from before the period. */
  readonly past: boolean
  readonly state: ListedEvent["state"]
  readonly spam_reason: SpamReason | null
  readonly empty: boolean
  readonly row_waits: boolean
  readonly actor_kind: "person" | "token" | "cli" | "program" | null
  readonly actor_id: number | null
  readonly actor_name: string | null
}

interface Slice {
  readonly filter: EventFilter
  readonly after: EventPlace | null
  readonly limit: number
  readonly examine: number
  /** Quoted and with its schema. */
  readonly foldCollation: string
  /** Events of files as records, which are walked instead of the rows; null for the rows. */
  readonly records: string | null
  /** The last place that is in a file: rows up to there are left to the walk of the files. Null without files. */
  readonly border: EventPlace | null
}

const LAST = "9223372036854775807"

/** What is walked: the rows, or events of a parameter. */
const eventsOf = ({ records }: Slice, values: Values): string =>
  records === null ? "cabinet.event" : coldEvents(values.add(records, "text"))

/** One scan per channel, merged: the positions before a place, newest first. */
const walkBack = (slice: Slice, events: string, values: Values): string => {
  const { filter, after, examine, border } = slice
  const { sourceId, channel, to } = filter
  const [epoch, xid, id] = (after ?? [LAST, LAST, LAST]).map((part) => values.add(part, "int8"))
  const most = values.add(examine, "int8")
  const source = sourceId === null ? null : values.add(sourceId, "int8")
  // With a period, the walk begins shortly after its end.
  const below =
    after === null && to !== null && slice.records === null
      ? `AND (e.epoch, e.xid, e.id) < (SELECT l.epoch, l.xid, l.id FROM latest l)`
      : ""
  const above =
    border === null ? "" : `AND (e.epoch, e.xid, e.id) > (${border.map((part) => values.add(part, "int8")).join(", ")})`
  const scan = (one: Channel) =>
    source === null
      ? `SELECT e.epoch, e.xid, e.id, e.bytes FROM ${events} e
      WHERE e.channel = '${one}' AND (e.epoch, e.xid, e.id) < (${epoch}, ${xid}, ${id}) ${below} ${above}
      ORDER BY e.epoch DESC, e.xid DESC, e.id DESC LIMIT ${most}`
      : `SELECT e.epoch, e.xid, e.id, e.bytes FROM ${events} e
      WHERE (e.source_id, e.channel, e.epoch, e.xid, e.id) < (${source}, '${one}', ${epoch}, ${xid}, ${id})
        AND (e.source_id, e.channel, e.epoch) >= (${source}, '${one}', 0) ${below} ${above}
      ORDER BY e.source_id DESC, e.channel DESC, e.epoch DESC, e.xid DESC, e.id DESC LIMIT ${most}`
  const scans = CHANNELS.filter((one) => channel === null || channel === one).map((one) => `(${scan(one)})`)
  const latest =
    below === ""
      ? ""
      : `latest AS MATERIALIZED (
    SELECT ${LAST} AS epoch, ${LAST} AS xid, ${LAST} AS id WHERE cabinet.first_event_since(${values.add(to, "timestamptz")} + ${DISORDER}) IS NULL
    UNION ALL
    SELECT epoch, xid, id FROM cabinet.event WHERE id = cabinet.first_event_since(${values.add(to, "timestamptz")} + ${DISORDER})
  ), `
  return `${latest}walked AS MATERIALIZED (
    SELECT w.id, w.bytes, row_number() OVER (ORDER BY epoch DESC, xid DESC, id DESC) AS n,
      ARRAY[w.epoch::text, w.xid::text, w.id::text] AS place
    FROM (${scans.join(" UNION ALL ")}) w ORDER BY w.epoch DESC, w.xid DESC, w.id DESC LIMIT ${most})`
}

/** The trash, most recently trashed first. Its places are time and event. */
const walkTrash = ({ filter: { sourceId }, after, examine }: Slice, values: Values): string => {
  const place =
    after === null
      ? ""
      : `AND (t.at, t.event_id) < (${values.add(after[0], "timestamptz")}, ${values.add(after[1], "int8")})`
  const source = sourceId === null ? "" : `AND t.source_id = ${values.add(sourceId, "int8")}`
  return `walked AS MATERIALIZED (
    SELECT w.event_id AS id, 0 AS bytes, row_number() OVER (ORDER BY at DESC, event_id DESC) AS n,
      ARRAY[cabinet.rfc3339(w.at), w.event_id::text] AS place
    FROM (SELECT t.at, t.event_id FROM cabinet.trashed_event t WHERE true ${source} ${place}
      ORDER BY t.at DESC, t.event_id DESC LIMIT ${values.add(examine, "int8")}) w)`
}

/** One event by its number. */
const walkOne = (event: number, events: string, values: Values): string => `walked AS MATERIALIZED (
    SELECT e.id, e.bytes, 1 AS n, ARRAY[e.epoch::text, e.xid::text, e.id::text] AS place
    FROM ${events} e WHERE e.id = ${values.add(event, "int8")})`

const walkOf = (slice: Slice, events: string, values: Values): string => {
  const { event, state } = slice.filter
  if (event !== null) return walkOne(event, events, values)
  return state === "trashed" ? walkTrash(slice, values) : walkBack(slice, events, values)
}

export const sliceStatement = (slice: Slice) => {
  const values = new Values()
  const { filter, limit } = slice
  const events = eventsOf(slice, values)
  const walk = walkOf(slice, events, values)
  const matches = eventConditions(slice, values)
  const past =
    filter.from === null ? "false" : `e.received_at < ${values.add(filter.from, "timestamptz")} - ${DISORDER}`
  const read =
    filter.text === null && filter.state !== "invalid"
      ? "SELECT * FROM walked"
      : `SELECT * FROM (SELECT *, sum(bytes) OVER (ORDER BY n) - bytes AS before FROM walked) w WHERE before < ${READ_BYTES}`
  const full = `count(*) FILTER (WHERE x.matched) OVER (ORDER BY x.n)`
  const size = `sum(x.bytes) FILTER (WHERE x.matched) OVER (ORDER BY x.n)`
  const text = `
  WITH ${walk}, looked_at AS MATERIALIZED (
    SELECT w.*, e.bytes AS payload_bytes, ${matches} AS matched, ${past} AS past
    FROM (${read}) w JOIN ${events} e ON e.id = w.id
  ), numbered AS (
    SELECT x.*, ${full} AS nth, ${size.replace("x.bytes", "x.payload_bytes")} AS size, count(*) OVER () AS seen
    FROM looked_at x
  )
  SELECT n.id::float8 AS id, n.place, cabinet.rfc3339(e.received_at) AS received_at, n.matched, n.past, n.seen::float8 AS seen,
    (SELECT count(*) FROM walked)::float8 AS walked,
    CASE WHEN n.matched AND n.nth <= ${values.add(limit, "int8")} AND (n.nth = 1 OR n.size <= ${PAGE_BYTES})
      THEN cabinet.event_json(e, s.name) END AS event,
    CASE WHEN e.purged_at IS NOT NULL THEN 'purged' WHEN e.deleted_at IS NOT NULL THEN 'trashed'
      WHEN e.spam IS NOT NULL THEN 'spam' WHEN e.repeat_of IS NOT NULL THEN 'repeat' ELSE 'row' END AS state,
    e.spam AS spam_reason, e.empty, EXISTS (SELECT FROM cabinet.deferred_row d WHERE d.event_id = e.id)
      OR EXISTS (SELECT FROM cabinet.row_set_aside a WHERE a.event_id = e.id) AS row_waits,
    t.actor_kind, t.actor_id::float8 AS actor_id, t.actor_name
  FROM numbered n JOIN ${events} e ON e.id = n.id JOIN cabinet.source s ON s.id = e.source_id
    LEFT JOIN cabinet.trashed_event t ON t.event_id = e.id AND e.deleted_at IS NOT NULL
  WHERE (n.matched AND n.nth <= ${values.add(limit + 1, "int8")}) OR n.n = (SELECT max(n) FROM looked_at)
  ORDER BY n.n`
  return { text, values: values.all }
}

/**
 * $1: events. Counts their deliveries by state. Those in order have no line of their own in most cases: they count by the
 * position of their address, unless a filter decides about them.
 */
export const DELIVERY_COUNTS = `
  WITH had AS MATERIALIZED (
    SELECT event_id, address_id, state FROM cabinet.delivery_all WHERE event_id = ANY ($1::int8[])
  ), stated AS (
    SELECT event_id, state FROM had
    UNION ALL
    SELECT e.id, CASE WHEN (e.epoch, e.xid, e.id) <= (f.epoch, f.xid, f.event_id) THEN 'delivered' ELSE 'due' END
    FROM cabinet.event e CROSS JOIN cabinet.ordered_delivery o
      JOIN cabinet.follower f ON f.id = o.follower_id JOIN cabinet.address a ON a.id = o.address_id
    CROSS JOIN LATERAL (
      SELECT r.every_source, r.sources, r.filters FROM cabinet.address_rule r
      WHERE r.address_id = o.address_id AND (r.epoch, r.xid) <= (e.epoch, e.xid) ORDER BY r.epoch DESC, r.xid DESC LIMIT 1
    ) r
    WHERE e.id = ANY ($1::int8[]) AND ${IS_DELIVERED} AND a.removed_at IS NULL AND r.filters IS NULL
      AND (r.every_source OR e.source_id = ANY (r.sources))
      AND NOT EXISTS (SELECT FROM had h WHERE h.event_id = e.id AND h.address_id = o.address_id)
  )
  SELECT event_id::float8 AS id, count(*) FILTER (WHERE state = 'due')::float8 AS due,
    count(*) FILTER (WHERE state = 'delivered')::float8 AS delivered, count(*) FILTER (WHERE state = 'failed')::float8 AS failed,
    count(*) FILTER (WHERE state = 'cancelled')::float8 AS cancelled
  FROM stated GROUP BY event_id`
