/** A body whose content encoding is broken: it is kept like any other body that does not parse. */
import { fingerprint, printedEvent } from "../event/Fingerprint.ts"
import type { Json } from "../json/Json.ts"
import { parseSubmission } from "./ParseSubmission.ts"
import type { ParsedEvent, Submission } from "./Submission.ts"

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

/**
 * The event of such a body: the fields of the address, `_raw` with the bytes read as UTF-8 as far as they go, and `reason` in
 * `_parse_error`; empty, as all that is answered 400. Two of them are equal by their bytes, for the text of different bytes may be the same.
 */
export const undecodableEvent = (submission: Submission, reason: string): ParsedEvent => {
  const fields = parseSubmission({ ...submission, body: new Uint8Array(0), contentType: undefined })
  const payload = new Map<string, Json>(fields.events[0]?.payload)
  const { body } = submission
  payload.set("_raw", utf8.decode(body).replaceAll("\0", "\uFFFD"))
  payload.set("_parse_error", reason)
  const counted = new Map(payload)
  counted.set("_raw", Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1"))
  return { ...printedEvent(payload), empty: true, fingerprint: fingerprint(counted) }
}
