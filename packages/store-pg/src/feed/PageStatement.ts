/** The statement of one page of the feed. */
import { type Channel, CHANNELS } from "@data-cabinet/core/event/EventLog"
import type { FeedQuery } from "@data-cabinet/core/feed/FeedStore"
import type { EncodedEvent } from "./EventsToJson.ts"
import { MAX_LIMIT, PAGE_BYTES } from "@data-cabinet/core/pagination/Page"

/**
 * An event of a page, and its place. `limit` and one more are found, if there are so many. The payload is missing where the
 * page is full, or where a hasty statement met an event that may be too long for it.
 */
export type PageRow = EncodedEvent | readonly [payload: null]

/**
 * One page. Without a channel three walks are merged, one a channel, each along an index whose leading columns are the
 * filter's.
 *
 * `hasty` is for nearly all pages: no event is longer than its share of one, so that their sizes need not be summed.
 */
export const pageStatement = (query: FeedQuery, epoch: string, bound: string, hasty: boolean) => {
  const values: Array<unknown> = [query.after.epoch, query.after.xid, query.after.id, epoch, bound, query.limit]
  if (query.sourceId !== null) values.push(query.sourceId)
  const channels = CHANNELS.filter((channel) => query.channel === null || query.channel === channel)
  const walk = query.sourceId === null ? walkOfAll : walkOfSource
  const merge = (shown: (channel: Channel) => string) => `
  SELECT * FROM (${channels.map((channel) => `(${walk(channel, shown(channel))})`).join(" UNION ALL ")}) w
  ORDER BY w.epoch, w.xid, w.id LIMIT $6::int8 + 1`
  const share = Math.floor(PAGE_BYTES / query.limit)
  const text = hasty
    ? merge((channel) => `CASE WHEN e.bytes <= ${share} THEN e.payload END, ${sent(channel)}`)
    : `SELECT ${WHILE_ROOM}, ${SENT} FROM (${merge((channel) => `e.bytes, e.payload, ${sent(channel)}`)}) e
  ORDER BY ${PLACE}`
  return { text, values }
}

/** The names of sources, by id. */
export const SOURCE_NAMES = "SELECT id::float8, name FROM cabinet.source WHERE id = ANY ($1::int8[])"

const PLACE = "e.epoch, e.xid, e.id"

const SENT = `${PLACE}, e.source_id, e.channel, e.received_at, e.repeat_of, e.history, e.deleted_at`

const sent = (channel: Channel) => `${PLACE}, e.source_id::float8 AS source_id, ${CHANNELS.indexOf(channel)} AS channel,
      ROW(e.received_at) AS received_at, e.repeat_of::float8 AS repeat_of, e.history,
      CASE WHEN e.deleted_at IS NOT NULL THEN ROW(e.deleted_at) END AS deleted_at`

const WHILE_ROOM = `CASE WHEN sum(e.bytes) OVER (ORDER BY ${PLACE} ROWS UNBOUNDED PRECEDING) - e.bytes < ${PAGE_BYTES}
  THEN e.payload END`

/**
 * In the order of places, so that three walks are merged without being sorted, and none is walked further than the page
 * needs. That the longest page bounds it tells the planner without parameters how little is wanted.
 */
const walkOfAll = (channel: Channel, shown: string) => `
    SELECT ${shown} FROM cabinet.event e
    WHERE e.channel = '${channel}' AND (e.epoch, e.xid, e.id) > ($1::int8, $2::int8, $3::int8)
      AND (e.epoch, e.xid) < ($4::int8, $5::int8)
    ORDER BY ${PLACE} LIMIT ${MAX_LIMIT + 1}`

/**
 * Compares and orders by the index's whole key, its filter's columns too. With `source_id = $7` instead, a planner that
 * finds a source neither rare nor common walks the index without it and throws away nearly all that it reads. These are
 * sorted once more, so each ends by itself where the page does.
 */
const walkOfSource = (channel: Channel, shown: string) => `
    SELECT * FROM (
      SELECT ${shown} FROM cabinet.event e
      WHERE (e.source_id, e.channel, e.epoch, e.xid, e.id) > ($7::int8, '${channel}', $1::int8, $2::int8, $3::int8)
        AND (e.source_id, e.channel, e.epoch, e.xid) < ($7::int8, '${channel}', $4::int8, $5::int8)
      ORDER BY e.source_id, e.channel, ${PLACE} LIMIT ${MAX_LIMIT + 1}
    ) e LIMIT $6::int8 + 1`
