/** The statement of one page of the feed. */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import type { FeedQuery } from "@data-cabinet/core/feed/FeedStore"

/** A page ends early once its items hold this many bytes: fewer than `limit`, and more to come. */
const PAGE_BYTES = 8 * 1024 * 1024

/** Between the items of a page: a character that JSON text cannot hold. */
export const ITEM_END = "\u001e"

/** What a page's statement answers: always one row, for a message a row would cost the driver more than the page does. */
export interface PageRow {
  /** Joined by {@link ITEM_END}; null for none, as are the three parts of the last one's place. */
  readonly items: string | null
  readonly epoch: string | null
  readonly xid: string | null
  readonly id: string | null
  readonly more: boolean
}

/**
 * One page. The places come first, out of an index whose leading columns are the filter's; without a channel three walks
 * are merged, one a channel. Then their sizes are summed, and only what fits is read.
 *
 * A walk compares and orders by the index's whole key, its filter's columns too. With `source_id = $7` instead, a planner
 * that finds a source neither rare nor common walks the index without it and throws away nearly all that it reads.
 */
export const pageStatement = (query: FeedQuery, epoch: string, bound: string) => {
  const values: Array<unknown> = [query.after.epoch, query.after.xid, query.after.id, epoch, bound, query.limit]
  const filter = (channel: string): readonly [names: string, values: string] =>
    query.sourceId === null ? ["e.channel", `'${channel}'`] : ["e.source_id, e.channel", `$7::int8, '${channel}'`]
  if (query.sourceId !== null) values.push(query.sourceId)
  const walk = (channel: string) => {
    const [names, these] = filter(channel)
    return `
    (SELECT e.epoch, e.xid, e.id, e.bytes FROM cabinet.event e
     WHERE (${names}, e.epoch, e.xid, e.id) > (${these}, $1::int8, $2::int8, $3::int8)
       AND (${names}, e.epoch, e.xid) < (${these}, $4::int8, $5::int8)
     ORDER BY ${names}, e.epoch, e.xid, e.id LIMIT $6::int8 + 1)`
  }
  const channels = CHANNELS.filter((channel) => query.channel === null || query.channel === channel)
  return {
    text: `
SELECT string_agg(cabinet.event_json(e, s.name), '${ITEM_END}' ORDER BY p.nth) AS items,
       (array_agg(e.epoch ORDER BY p.nth))[count(*)]::text AS epoch,
       (array_agg(e.xid ORDER BY p.nth))[count(*)]::text AS xid,
       (array_agg(e.id ORDER BY p.nth))[count(*)]::text AS id,
       coalesce(max(p.found) > count(*), false) AS more
FROM (
  SELECT w.id, row_number() OVER place AS nth, sum(w.bytes) OVER place - w.bytes AS before, count(*) OVER () AS found
  FROM (SELECT * FROM (${channels.map(walk).join(" UNION ALL ")}) w
        ORDER BY w.epoch, w.xid, w.id LIMIT $6::int8 + 1) w
  WINDOW place AS (ORDER BY w.epoch, w.xid, w.id ROWS UNBOUNDED PRECEDING)
) p JOIN cabinet.event e ON e.id = p.id JOIN cabinet.source s ON s.id = e.source_id
WHERE p.nth <= $6 AND p.before < ${PAGE_BYTES}`,
    values,
  }
}
