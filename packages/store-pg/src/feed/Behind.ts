/**
 * Events after a place of the feed, as SQL: one scan of the feed's own index for each channel, which reads no payload.
 */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"

/** The columns of events `e` after a place, in no order across channels. `until` is a further condition, with its `AND`. */
export const behind = (
  columns: string,
  [epoch, xid, id]: readonly [string, string, string],
  until: string,
  limit: string,
): string =>
  CHANNELS.map(
    (channel) => `(
    SELECT ${columns} FROM cabinet.event e
    WHERE e.channel = '${channel}' AND (e.epoch, e.xid, e.id) > (${epoch}, ${xid}, ${id})${until}
    ORDER BY e.epoch, e.xid, e.id LIMIT ${limit})`,
  ).join(" UNION ALL ")
