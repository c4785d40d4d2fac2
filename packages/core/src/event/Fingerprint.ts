/**
 * The fingerprint by which repeats are detected. The canonical form is public (docs/intake.md), so that a sender can tell
 * in advance which events will be marked as repeats.
 */
import { hash } from "node:crypto"
import type { JsonObject } from "../json/Json.ts"
import { canonicalJsonText, jsonText, jsonTexts, JsonWriting } from "../json/JsonText.ts"
import type { JsonTexts } from "../json/JsonText.ts"
import { isEmptyPayload } from "./Payload.ts"

/**
 * SHA-256 (64 hexadecimal digits) of a payload's canonical text: keys sorted by code unit, lists in their order, number
 * tokens as sent, no white space. The hash is cryptographic: a sender who could make two bodies collide could have
 * another sender's event marked as a repeat. A body that did not parse is compared by its text or value, without our
 * error message.
 */
export const fingerprint = (payload: JsonObject): string =>
  print(canonicalJsonText(isUnparsed(payload) ? withoutReason(payload) : payload))

/** An event's text with its fingerprint. */
export interface FingerprintedEvent {
  readonly payload: JsonObject
  /** As JSON. */
  readonly text: string
  /** No field is filled. */
  readonly empty: boolean
  readonly fingerprint: string
}

/**
 * Creates an event to append from a payload, with its text and its fingerprint. The text of every member is written once
 * for both.
 */
export const fingerprintedEvent = (payload: JsonObject, texts?: JsonTexts): FingerprintedEvent => {
  if (isUnparsed(payload)) {
    const text = texts?.text ?? jsonText(payload)
    return { payload, text, empty: isEmptyPayload(payload), fingerprint: fingerprint(payload) }
  }
  const { text, canonical } = texts ?? jsonTexts(payload)
  return { payload, text, empty: isEmptyPayload(payload), fingerprint: print(canonical) }
}

/** The same event with a payload that has more fields; these do not count when bodies are compared. */
export const withPayload = ({ fingerprint: print }: FingerprintedEvent, payload: JsonObject): FingerprintedEvent => ({
  payload,
  text: jsonText(payload),
  empty: isEmptyPayload(payload),
  fingerprint: print,
})

/**
 * The same for a long payload, whose text may be known already; each call writes about this many characters. `compared`
 * has the fields that count when bodies are compared.
 */
export const fingerprintingEvent = (
  payload: JsonObject,
  known: string | undefined,
  compared: JsonObject = payload,
): ((characters: number) => FingerprintedEvent | undefined) => {
  const writing = new JsonWriting(payload, false)
  const comparing = new JsonWriting(isUnparsed(compared) ? withoutReason(compared) : compared, true)
  let text = known
  let canonical: string | undefined
  return (characters) => {
    // A short text does not end the step: the next one is written in the same call.
    const short = characters / 4
    if (text === undefined) {
      text = writing.advance(characters)
      if (text === undefined || text.length > short) return undefined
    }
    if (canonical === undefined) {
      canonical = comparing.advance(characters)
      if (canonical === undefined || canonical.length > short) return undefined
    }
    return { payload, text, empty: isEmptyPayload(payload), fingerprint: print(canonical) }
  }
}

/** Hashing a string costs less than hashing a buffer, whose bytes lie outside the heap. */
const print = (canonical: string): string => hash("sha256", canonical, "hex")

const isUnparsed = (payload: JsonObject): boolean =>
  payload.has("_parse_error") && (payload.has("_raw") || payload.has("_value"))

const withoutReason = (payload: JsonObject): JsonObject => {
  const rest = new Map(payload)
  rest.delete("_parse_error")
  return rest
}
