/** The statements of the feed's end. They walk the feed's own indexes, one scan a channel, and read no payload. */
import { CHANNELS, type Channel } from "@data-cabinet/core/event/EventLog"

/** An event's place, as text, because its numbers have 64 bits. */
const PLACE = `epoch::text, xid::text, id::text,
  (extract(epoch FROM received_at - '2000-01-01 00:00:00+00'::timestamptz) * 1000000)::int8::text`

const each = (channels: ReadonlyArray<Channel>, walk: (channel: Channel) => string): string =>
  channels.map((channel) => `(${walk(channel)})`).join(" UNION ALL ")

/** $1, $2: the watermark. The last ORDER BY names its table: otherwise it would sort by the returned text. */
export const END_OF_FEED = `
SELECT ${PLACE} FROM (${each(
  CHANNELS,
  (channel) => `
    SELECT epoch, xid, id, received_at FROM cabinet.event
    WHERE channel = '${channel}' AND (epoch, xid) < ($1::int8, $2::int8) ORDER BY epoch DESC, xid DESC, id DESC LIMIT 1`,
)}) w ORDER BY w.epoch DESC, w.xid DESC, w.id DESC LIMIT 1`

const walksOf = (channel: Channel | null, ofSource: boolean, columns: string, rest: string): string =>
  each(
    channel === null ? CHANNELS : [channel],
    (one) => `
    SELECT ${columns} FROM cabinet.event
    WHERE channel = '${one}'${ofSource ? " AND source_id = $4::int8" : ""} AND (epoch, xid) < ($1::int8, $2::int8) ${rest}`,
  )

/**
 * $1, $2: the watermark; $3: a number of events; $4: the source, if there is one. The place before the last `n`
 * events.
 */
export const startBeforeLast = (channel: Channel | null, ofSource: boolean): string => `
SELECT ${PLACE} FROM (${walksOf(
  channel,
  ofSource,
  "epoch, xid, id, received_at",
  "ORDER BY epoch DESC, xid DESC, id DESC LIMIT $3::int8 + 1",
)}) w ORDER BY w.epoch DESC, w.xid DESC, w.id DESC OFFSET $3::int8 LIMIT 1`

/** Longer than any accept lives: its statement is cancelled after 30 seconds. */
const LONGEST_ACCEPT = "interval '60 seconds'"

/**
 * $1, $2: the watermark; $3: a time; $4: the source, if given. The place before the first event in the feed's order
 * that was received at or after the time; none if that is the beginning.
 *
 * An event received earlier may come after it, because the place is drawn with the transaction id, and the time a
 * moment later. So the last event from before the time cannot be the start: the search begins as much earlier as an
 * accept can take, and finds the first wanted event from there.
 */
export const startAtTime = (channel: Channel | null, ofSource: boolean): string => {
  const first = walksOf(
    channel,
    ofSource,
    "epoch, xid, id",
    `AND (epoch, xid, id) > ((SELECT epoch FROM before), (SELECT xid FROM before), (SELECT id FROM before))
      AND received_at >= $3::timestamptz ORDER BY epoch, xid, id LIMIT 1`,
  )
  return `
WITH before AS MATERIALIZED (
  SELECT epoch, xid, id FROM (${walksOf(
    channel,
    ofSource,
    "epoch, xid, id",
    `AND received_at < $3::timestamptz - ${LONGEST_ACCEPT} ORDER BY epoch DESC, xid DESC, id DESC LIMIT 1`,
  )} UNION ALL SELECT 0::int8, 0::int8, 0::int8) w ORDER BY w.epoch DESC, w.xid DESC, w.id DESC LIMIT 1
), first AS MATERIALIZED (
  SELECT epoch, xid, id FROM (${first} UNION ALL SELECT $1::int8, $2::int8, 0::int8) w
  ORDER BY w.epoch, w.xid, w.id LIMIT 1
)
SELECT ${PLACE} FROM (${walksOf(
    channel,
    ofSource,
    "epoch, xid, id, received_at",
    `AND (epoch, xid, id) < ((SELECT epoch FROM first), (SELECT xid FROM first), (SELECT id FROM first))
    ORDER BY epoch DESC, xid DESC, id DESC LIMIT 1`,
  )}) w ORDER BY w.epoch DESC, w.xid DESC, w.id DESC LIMIT 1`
}

const HAS_ROW = "repeat_of IS NULL AND deleted_at IS NULL AND spam IS NULL"

/**
 * $1 to $3: after which event; $4, $5: the watermark; $6: how many. Each source and channel with its counts, and the
 * last place.
 */
export const ARRIVALS = `
WITH came AS MATERIALIZED (
  SELECT * FROM (${each(
    CHANNELS,
    (channel) => `
    SELECT epoch, xid, id, received_at, source_id, channel, repeat_of, deleted_at, spam FROM cabinet.event
    WHERE channel = '${channel}' AND (epoch, xid, id) > ($1::int8, $2::int8, $3::int8) AND (epoch, xid) < ($4::int8, $5::int8)
    ORDER BY epoch, xid, id LIMIT $6::int8`,
  )}) w ORDER BY epoch, xid, id LIMIT $6::int8
), last AS (
  SELECT ${PLACE} FROM (SELECT * FROM came ORDER BY epoch DESC, xid DESC, id DESC LIMIT 1) l
)
SELECT n.*, last.* FROM last, (
  SELECT source_id::float8, channel, count(*)::float8, (count(*) FILTER (WHERE ${HAS_ROW}))::float8
  FROM came GROUP BY source_id, channel
) n`

/** $1 to $3: after which event; $4 to $6: up to and including which; $7: how many at most; $8: the source, if given. */
export const countStatement = (channel: Channel | null, ofSource: boolean): string => {
  const channels = channel === null ? CHANNELS : [channel]
  const key = ofSource ? "(source_id, channel, epoch, xid, id)" : "(epoch, xid, id)"
  const at = (one: Channel, place: string) => (ofSource ? `($8::int8, '${one}', ${place})` : `(${place})`)
  return `
SELECT count(*)::float8, (count(*) FILTER (WHERE ${HAS_ROW}))::float8 FROM (
  SELECT * FROM (${each(
    channels,
    (one) => `
    SELECT repeat_of, deleted_at, spam FROM cabinet.event
    WHERE channel = '${one}' AND ${key} > ${at(one, "$1::int8, $2::int8, $3::int8")} AND ${key} <= ${at(one, "$4::int8, $5::int8, $6::int8")}
    LIMIT $7::int8`,
  )}) w LIMIT $7::int8
) e`
}
