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

/** Files with events after a place: when the first of a file was received, and how many it has. */
export const filesBehind = ([epoch, xid, id]: readonly [string, string, string]): string => `
  SELECT c.from_at AS received_at, c.events FROM cabinet.cold_file c
  WHERE c.name IS NOT NULL AND (c.last_epoch, c.last_xid, c.last_id) > (${epoch}, ${xid}, ${id})`
