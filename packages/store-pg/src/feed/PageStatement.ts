/** The statement of one page of the feed. */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import type { FeedQuery } from "@data-cabinet/core/feed/FeedStore"
import { BYTES } from "../connection/PassedThrough.ts"

/** A page ends early once its payloads hold this many bytes: fewer than `limit`, and more to come. */
const PAGE_BYTES = 8 * 1024 * 1024

/**
 * An event of a page, and its place. `limit` and one more are found, if there are so many. The text is missing where the
 * page is full, or where a hasty statement met an event that may be too long for it.
 */
export type PageRow = readonly [event: Uint8Array | null, epoch: bigint, xid: bigint, id: bigint]

/**
 * One page. Without a channel three walks are merged, one a channel, each along an index whose leading columns are the
 * filter's.
 *
 * `hasty` is for nearly all pages: no event is longer than its share of one, so that their sizes need not be summed,
 * which is a fifth of the cost.
 */
export const pageStatement = (query: FeedQuery, epoch: string, bound: string, hasty: boolean) => {
  const values: Array<unknown> = [query.after.epoch, query.after.xid, query.after.id, epoch, bound, query.limit]
  if (query.sourceId !== null) values.push(query.sourceId)
  const channels = CHANNELS.filter((channel) => query.channel === null || query.channel === channel)
  const walks = channels.map((channel) => `(${query.sourceId === null ? walk(channel) : walkOfSource(channel)})`)
  const summed = hasty ? "" : `, sum(w.bytes) OVER (ORDER BY ${PLACE} ROWS UNBOUNDED PRECEDING) - w.bytes AS before`
  const fits = hasty ? `e.bytes <= ${Math.floor(PAGE_BYTES / query.limit)}` : `e.before < ${PAGE_BYTES}`
  return {
    text: `
SELECT CASE WHEN ${fits} THEN cabinet.event_json(e.id, s.json, e.channel, e.received_at, e.payload, e.repeat_of, e.history,
         e.deleted_at)::${BYTES} END, e.epoch, e.xid, e.id
FROM (
  SELECT w.*${summed} FROM (
    SELECT * FROM (${walks.join(" UNION ALL ")}) w ORDER BY ${PLACE} LIMIT $6::int8 + 1
  ) w
) e JOIN (SELECT id, cabinet.source_json(id, name) AS json FROM cabinet.source OFFSET 0) s ON s.id = e.source_id`,
    values,
  }
}

const PLACE = "w.epoch, w.xid, w.id"

const COLUMNS =
  "e.epoch, e.xid, e.id, e.source_id, e.channel, e.received_at, e.payload, e.bytes, e.repeat_of, e.history, e.deleted_at"

/** In the order of places, so that three walks are merged without being sorted. */
const walk = (channel: string) => `
    SELECT ${COLUMNS} FROM cabinet.event e
    WHERE e.channel = '${channel}' AND (e.epoch, e.xid, e.id) > ($1::int8, $2::int8, $3::int8)
      AND (e.epoch, e.xid) < ($4::int8, $5::int8)
    ORDER BY e.epoch, e.xid, e.id LIMIT $6::int8 + 1`

/**
 * Compares and orders by the index's whole key, its filter's columns too. With `source_id = $7` instead, a planner that
 * finds a source neither rare nor common walks the index without it and throws away nearly all that it reads.
 */
const walkOfSource = (channel: string) => `
    SELECT ${COLUMNS} FROM cabinet.event e
    WHERE (e.source_id, e.channel, e.epoch, e.xid, e.id) > ($7::int8, '${channel}', $1::int8, $2::int8, $3::int8)
      AND (e.source_id, e.channel, e.epoch, e.xid) < ($7::int8, '${channel}', $4::int8, $5::int8)
    ORDER BY e.source_id, e.channel, e.epoch, e.xid, e.id LIMIT $6::int8 + 1`
