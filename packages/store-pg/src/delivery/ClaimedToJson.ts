/** Writes the event of a claimed delivery as the feed shows it, by the feed's writer. */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { addVerdict, endEvent, ENVELOPE, startEvent } from "../feed/EventJson.ts"
import type { SourceNames } from "../feed/SourceNames.ts"
import { copyBytes } from "../row/JsonWriter.ts"
import { TIMESTAMPTZ } from "../row/TimestampToJson.ts"
import { viewOf } from "../row/ValueToJson.ts"
import type { ClaimedRow } from "./ClaimStatement.ts"

/** The columns of the event. */
export type EventRow = Pick<
  ClaimedRow,
  | "event_id"
  | "source_id"
  | "source_name"
  | "channel"
  | "received_at"
  | "payload"
  | "repeat_of"
  | "history"
  | "verified"
>

/** Null for a ping. The names are only kept to be written again: each row brings its own. */
export const claimedEvent = (row: EventRow, names: SourceNames): Uint8Array | null => {
  const { payload, received_at: receivedAt } = row
  if (payload === null || receivedAt === null) return null
  const origin = names.originsOfNamed(row.source_id!, row.source_name!)[CHANNELS.indexOf(row.channel!)]!
  const bytes = Buffer.allocUnsafe(origin.length + payload.length + ENVELOPE)
  const to = viewOf(bytes)
  const sent = viewOf(receivedAt)
  let at = startEvent(to, 0, row.event_id!, origin, sent, 0)
  at = copyBytes(to, at, viewOf(payload), 0, payload.length)
  at = endEvent(to, at, row.repeat_of, row.history!, sent, -1)
  return bytes.subarray(0, row.verified === null ? at : addVerdict(to, at, row.verified))
}

const MOMENT = Buffer.alloc(64)
const MOMENT_VIEW = viewOf(MOMENT)

/** A moment in RFC 3339. */
export const sentTimestamp = (sent: Uint8Array): string =>
  MOMENT.toString("latin1", 1, TIMESTAMPTZ.write(MOMENT_VIEW, 0, viewOf(sent), 0, 8) - 1)
