/**
 * By what two submissions are the same one. The canonical form is public (docs/intake.md), so that a sender can tell
 * beforehand what will be marked as a repeat.
 */
import { hash } from "node:crypto"
import type { JsonObject } from "../json/Json.ts"
import { canonicalJsonText, jsonText, jsonTexts, JsonWriting } from "../json/JsonText.ts"
import type { JsonTexts } from "../json/JsonText.ts"
import { isEmptyPayload } from "./Payload.ts"

/**
 * SHA-256 (64 hexadecimal digits) of a payload's canonical text: keys sorted by code unit, lists in their order, number
 * tokens as sent, no white space. Cryptographic, since a sender who could make two bodies collide could have another's
 * event dropped as a repeat. A body that did not parse counts by its text or value: what was wrong with it is our wording.
 */
export const fingerprint = (payload: JsonObject): string =>
  print(canonicalJsonText(isUnparsed(payload) ? withoutReason(payload) : payload))

export interface PrintedEvent {
  readonly payload: JsonObject
  /** As JSON. */
  readonly text: string
  /** No field is filled. */
  readonly empty: boolean
  readonly fingerprint: string
}

/** A payload as an event to append, with its text and its fingerprint, for which its texts are written in one go. */
export const printedEvent = (payload: JsonObject, texts?: JsonTexts): PrintedEvent => {
  if (isUnparsed(payload)) {
    const text = texts?.text ?? jsonText(payload)
    return { payload, text, empty: isEmptyPayload(payload), fingerprint: fingerprint(payload) }
  }
  const { text, canonical } = texts ?? jsonTexts(payload)
  return { payload, text, empty: isEmptyPayload(payload), fingerprint: print(canonical) }
}

/** The same of a long payload, whose text may be known: each call writes about so many characters of it. */
export const printingEvent = (
  payload: JsonObject,
  known: string | undefined,
): ((characters: number) => PrintedEvent | undefined) => {
  const writing = new JsonWriting(payload, false)
  const comparing = new JsonWriting(isUnparsed(payload) ? withoutReason(payload) : payload, true)
  let text = known
  let canonical: string | undefined
  return (characters) => {
    // What is short by itself is written in one go with what comes after it.
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

/** A text costs less than a buffer, whose bytes lie outside the heap. */
const print = (canonical: string): string => hash("sha256", canonical, "hex")

const isUnparsed = (payload: JsonObject): boolean =>
  payload.has("_parse_error") && (payload.has("_raw") || payload.has("_value"))

const withoutReason = (payload: JsonObject): JsonObject => {
  const rest = new Map(payload)
  rest.delete("_parse_error")
  return rest
}
