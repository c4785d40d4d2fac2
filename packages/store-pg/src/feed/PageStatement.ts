/** The statement of one page of the feed. */
import { type Channel, CHANNELS } from "@data-cabinet/core/event/EventLog"
import type { FeedQuery } from "@data-cabinet/core/feed/FeedStore"
import { MAX_LIMIT, PAGE_BYTES } from "@data-cabinet/core/pagination/Page"
import { NOT_ASKED, SENT_COLUMNS, SPAM } from "./EventColumns.ts"

/**
 * The statement of one page, which selects one event more than `limit`, if there are that many.
 *
 * `optimistic` serves nearly all pages: no event is longer than its share of the page, so their sizes need not be summed.
 */
export const pageStatement = (query: FeedQuery, epoch: string, bound: string, optimistic: boolean) => {
  const { after, limit, sourceId, sources, channel } = query
  const values = [after.epoch, after.xid, after.id, epoch, bound, limit].map(String)
  if (sourceId !== null) values.push(String(sourceId))
  else if (sources !== undefined) values.push(`{${sources.join(",")}}`)
  const walk = sourceId !== null ? "source" : sources === undefined ? "all" : "sources"
  if (optimistic) values.push(String(Math.floor(PAGE_BYTES / limit)))
  return { text: textOf(walk, channel, optimistic ? values.length : null), values }
}

/** The events that are walked: all, or those of one source or of several. */
type Walk = "all" | "source" | "sources"

const texts = new Map<string, string>()

/** There are two dozen texts. Each is built once, since a short page takes hardly longer than its text. */
const textOf = (walk: Walk, channel: Channel | null, share: number | null): string => {
  const key = `${walk} ${channel} ${share}`
  const known = texts.get(key)
  if (known !== undefined) return known
  const text = buildText(walk, channel, share)
  texts.set(key, text)
  return text
}

/**
 * Without a channel, three index scans are merged, one per channel, each along an index whose leading columns are the
 * filter's. `share`: the number of the parameter that limits an event's bytes; null if sizes are summed.
 */
const buildText = (walk: Walk, wanted: Channel | null, share: number | null): string => {
  const channels = CHANNELS.filter((channel) => wanted === null || wanted === channel)
  const merge = (shown: (channel: Channel) => string) => `
  SELECT * FROM (${channels.map((channel) => `(${WALKS[walk](channel, shown(channel))})`).join(" UNION ALL ")}) w
  ORDER BY w.epoch, w.xid, w.id LIMIT $6::int8 + 1`
  if (share === null) {
    const all = merge((channel) => `${beforePayload(channel)}, e.payload, e.bytes`)
    return `SELECT ${BEFORE_PAYLOAD}, ${WHILE_ROOM} FROM (${all}) e ORDER BY ${PLACE}`
  }
  const payload = `CASE WHEN e.bytes <= $${share}::int4 THEN e.payload END AS payload`
  return merge((channel) => `${beforePayload(channel)}, ${payload}`)
}

const PLACE = "e.epoch, e.xid, e.id"

/** The columns of an event before its payload, which follows those of fixed size. */
const BEFORE_PAYLOAD = Object.keys(SENT_COLUMNS)
  .filter((column) => column !== "payload")
  .map((column) => `e.${column}`)
  .join(", ")

const beforePayload = (channel: Channel) =>
  BEFORE_PAYLOAD.replace("e.channel", `${CHANNELS.indexOf(channel)} AS channel`).replace(
    "e.marks",
    `CASE WHEN e.spam IS NULL THEN 0 ELSE ${SPAM} END + coalesce(e.verified::int4, ${NOT_ASKED}) AS marks`,
  )

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

/** The same for each of several sources: events of others are not read, so a page costs nothing of theirs. */
const walkOfSources = (channel: Channel, shown: string) => `
    SELECT w.* FROM unnest($7::int8[]) AS listed(source), LATERAL (
      SELECT * FROM (
        SELECT ${shown} FROM cabinet.event e
        WHERE (e.source_id, e.channel, e.epoch, e.xid, e.id) > (listed.source, '${channel}', $1::int8, $2::int8, $3::int8)
          AND (e.source_id, e.channel, e.epoch, e.xid) < (listed.source, '${channel}', $4::int8, $5::int8)
        ORDER BY e.source_id, e.channel, ${PLACE} LIMIT ${MAX_LIMIT + 1}
      ) e LIMIT $6::int8 + 1
    ) w`

const WALKS: { readonly [walk in Walk]: (channel: Channel, shown: string) => string } = {
  all: walkOfAll,
  source: walkOfSource,
  sources: walkOfSources,
}
