/** The statement of one page of the feed. */
import { type Channel, CHANNELS } from "@data-cabinet/core/event/EventLog"
import type { FeedQuery } from "@data-cabinet/core/feed/FeedStore"
import type { EncodedEvent } from "./EventsToJson.ts"
import { MAX_LIMIT, PAGE_BYTES } from "@data-cabinet/core/pagination/Page"

/**
 * An event of a page with its position. One more than `limit` is selected, if there are that many. The payload is missing
 * if the page is full, or if a hasty statement met an event that may be too long for it.
 */
export type PageRow = EncodedEvent | readonly [payload: null]

/**
 * Builds the statement of one page. Without a channel, three index scans are merged, one per channel, each along an index
 * whose leading columns are the filter's.
 *
 * `hasty` serves nearly all pages: no event is longer than its share of the page, so their sizes need not be summed.
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

/** Selects the names of sources, by id. */
export const SOURCE_NAMES = "SELECT id::float8, name FROM cabinet.source WHERE id = ANY ($1::int8[])"

const PLACE = "e.epoch, e.xid, e.id"

const SENT = `${PLACE}, e.source_id, e.channel, e.received_at, e.repeat_of, e.history, e.deleted_at`

const sent = (channel: Channel) => `${PLACE}, e.source_id::float8 AS source_id, ${CHANNELS.indexOf(channel)} AS channel,
      ROW(e.received_at) AS received_at, e.repeat_of::float8 AS repeat_of, e.history,
      CASE WHEN e.deleted_at IS NOT NULL THEN ROW(e.deleted_at) END AS deleted_at`

const WHILE_ROOM = `CASE WHEN sum(e.bytes) OVER (ORDER BY ${PLACE} ROWS UNBOUNDED PRECEDING) - e.bytes < ${PAGE_BYTES}
  THEN e.payload END`

/**
 * Ordered by position, so that three scans are merged without a sort, and none is scanned further than the page needs.
 * The constant limit of the longest page tells the planner, which does not see the parameters, how few rows are wanted.
 */
const walkOfAll = (channel: Channel, shown: string) => `
    SELECT ${shown} FROM cabinet.event e
    WHERE e.channel = '${channel}' AND (e.epoch, e.xid, e.id) > ($1::int8, $2::int8, $3::int8)
      AND (e.epoch, e.xid) < ($4::int8, $5::int8)
    ORDER BY ${PLACE} LIMIT ${MAX_LIMIT + 1}`

/**
 * Compares and orders by the whole key of the index, including the columns of its filter. With `source_id = $7` instead,
 * a planner that estimates a source as neither rare nor common scans the index without it and discards nearly all that it
 * reads. These scans are sorted once more, so each one ends where the page does.
 */
const walkOfSource = (channel: Channel, shown: string) => `
    SELECT * FROM (
      SELECT ${shown} FROM cabinet.event e
      WHERE (e.source_id, e.channel, e.epoch, e.xid, e.id) > ($7::int8, '${channel}', $1::int8, $2::int8, $3::int8)
        AND (e.source_id, e.channel, e.epoch, e.xid) < ($7::int8, '${channel}', $4::int8, $5::int8)
      ORDER BY e.source_id, e.channel, ${PLACE} LIMIT ${MAX_LIMIT + 1}
    ) e LIMIT $6::int8 + 1`
