/** A body with a broken content encoding: it is stored like any other body that does not parse. */
import { fingerprint, fingerprintedEvent, withPayload } from "../event/Fingerprint.ts"
import type { Json } from "../json/Json.ts"
import { withQueryFields } from "./Fields.ts"
import { parseSubmission } from "./ParseSubmission.ts"
import type { ParsedEvent, Submission } from "./Submission.ts"

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

/**
 * Creates the event of such a body: the fields of the query, `_raw` with the bytes read as UTF-8 as far as possible,
 * and `reason` in `_parse_error`. It is empty, like every event whose sender gets a 400. Two such bodies are equal if
 * their bytes are, because different bytes can give the same text.
 */
export const undecodableEvent = ({ headerFields, ...submission }: Submission, reason: string): ParsedEvent => {
  const fields = parseSubmission({ ...submission, body: new Uint8Array(0), contentType: undefined })
  const payload = new Map<string, Json>(fields.events[0]?.payload)
  const { body } = submission
  payload.set("_raw", utf8.decode(body).replaceAll("\0", "\uFFFD"))
  payload.set("_parse_error", reason)
  const counted = new Map(payload)
  counted.set("_raw", Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1"))
  const event = { ...fingerprintedEvent(payload), empty: true, fingerprint: fingerprint(counted) }
  if (headerFields === undefined) return event
  return { ...withPayload(event, withQueryFields(headerFields, payload)), empty: true }
}
