/** An event as the feed shows it and as a delivery brings it; the same text that `cabinet.event_json` builds. */
import { integer, JsonFragment } from "../row/JsonWriter.ts"
import { TIMESTAMPTZ } from "../row/TimestampToJson.ts"

const START = new JsonFragment('{"id":')
const PAYLOAD = new JsonFragment(',"payload":')
const USUAL_END = new JsonFragment(',"repeat_of":null,"history":false,"deleted_at":null}')
const REPEAT_OF = new JsonFragment(',"repeat_of":')
const HISTORIC = new JsonFragment(',"history":true,"deleted_at":')
const NO_HISTORY = new JsonFragment(',"history":false,"deleted_at":')
const NULL = new JsonFragment("null")
const END = new JsonFragment("}")
const VERIFIED = new JsonFragment(',"verified":true}')
const SPAM = new JsonFragment(',"spam":true}')
const UNVERIFIED = new JsonFragment(',"verified":false}')

/** An upper bound on the bytes of an event besides its payload and origin. */
export const ENVELOPE = 224

/** Writes the members before the payload. The time of receipt is read from PostgreSQL's message. */
export const startEvent = (
  to: DataView,
  at: number,
  id: number,
  origin: JsonFragment,
  sent: DataView,
  receivedAt: number,
): number => {
  const here = origin.write(to, integer(to, START.write(to, at), id))
  return PAYLOAD.write(to, TIMESTAMPTZ.write(to, here, sent, receivedAt, 8))
}

/** Writes the members after the payload. `deletedAt`: its offset in PostgreSQL's message; negative if missing. */
export const endEvent = (
  to: DataView,
  at: number,
  repeatOf: number | null,
  history: boolean,
  sent: DataView,
  deletedAt: number,
): number => {
  if (repeatOf === null && deletedAt < 0 && !history) return USUAL_END.write(to, at)
  let here = REPEAT_OF.write(to, at)
  here = repeatOf === null ? NULL.write(to, here) : integer(to, here, repeatOf)
  here = (history ? HISTORIC : NO_HISTORY).write(to, here)
  here = deletedAt < 0 ? NULL.write(to, here) : TIMESTAMPTZ.write(to, here, sent, deletedAt, 8)
  return END.write(to, here)
}

/** Adds the verdict to an event that has been written up to this point. */
export const addVerdict = (to: DataView, end: number, verified: boolean): number =>
  (verified ? VERIFIED : UNVERIFIED).write(to, end - 1)

/** Marks an event that is spam. */
export const addSpam = (to: DataView, end: number): number => SPAM.write(to, end - 1)
