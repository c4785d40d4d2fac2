/** Writes what follows the payload of an event as JSON: its marks, and whether it is history. */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { int64At } from "../row/ValueToJson.ts"
import { addSpam, addVerdict, endEvent } from "./EventJson.ts"
import { CHANNEL, COLUMNS, EPOCH, NOT_ASKED, RECEIVED_AT, SPAM, VALUE_HEAD, HISTORY, MARKS } from "./EventColumns.ts"

/** Where the header of the first value that may be missing begins. */
const REST = HISTORY + 1

/** The offset of the payload; past the end if missing, and negative if the row is not an event's. */
export const payloadIn = (sent: DataView, start: number, end: number): number => {
  if (end - start < REST + 3 * VALUE_HEAD || sent.getUint16(start) !== COLUMNS) return -1
  for (let value = start + EPOCH; value <= start + RECEIVED_AT; value += 12) {
    if (sent.getInt32(value - VALUE_HEAD) !== 8) return -1
  }
  if (sent.getInt32(start + CHANNEL - VALUE_HEAD) !== 4 || sent.getInt32(start + HISTORY - VALUE_HEAD) !== 1) return -1
  if (sent.getInt32(start + MARKS - VALUE_HEAD) !== 4 || sent.getUint32(start + MARKS) > SPAM + NOT_ASKED) return -1
  if (sent.getUint32(start + CHANNEL) >= CHANNELS.length) return -1
  const deletedAt = afterOptional(sent, start + REST, end)
  if (deletedAt < 0) return -1
  const payload = afterOptional(sent, deletedAt, end)
  if (payload < 0) return -1
  const size = sent.getInt32(payload)
  if (size === -1) return payload + VALUE_HEAD === end ? end + 1 : -1
  return size === end - payload - VALUE_HEAD ? payload + VALUE_HEAD : -1
}

/** The offset of the header of the value after an optional value of eight bytes; negative if missing. */
const afterOptional = (sent: DataView, at: number, end: number): number => {
  const size = sent.getInt32(at)
  const next = at + VALUE_HEAD + Math.max(0, size)
  return (size === -1 || size === 8) && next + VALUE_HEAD <= end ? next : -1
}

/** Writes the members after the payload. */
export const writeRest = (to: DataView, at: number, sent: DataView, start: number): number => {
  const isRepeat = sent.getInt32(start + REST) > 0
  const deletedAt = start + REST + VALUE_HEAD + (isRepeat ? 8 : 0)
  const marks = sent.getInt32(start + MARKS)
  const end = endEvent(
    to,
    at,
    isRepeat ? int64At(sent, start + REST + VALUE_HEAD) : null,
    sent.getUint8(start + HISTORY) !== 0,
    sent,
    sent.getInt32(deletedAt) > 0 ? deletedAt + VALUE_HEAD : -1,
  )
  if (marks === NOT_ASKED) return end
  const verified = marks % SPAM
  const judged = verified === NOT_ASKED ? end : addVerdict(to, end, verified === 1)
  return marks < SPAM ? judged : addSpam(to, judged)
}
