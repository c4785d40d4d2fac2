/**
 * By what two submissions are the same one. The canonical form is public (docs/intake.md), so that a sender can tell
 * beforehand what will be marked as a repeat.
 */
import { hash } from "node:crypto"
import type { JsonObject } from "./Json.ts"
import { canonicalJsonText } from "./JsonText.ts"

/**
 * SHA-256 (32 bytes) of a payload's canonical text: keys sorted by code unit, lists in their order, number tokens as
 * sent, no white space. Cryptographic, since a sender who could make two bodies collide could have another's event
 * dropped as a repeat. A body that did not parse counts by its text or value: what was wrong with it is our wording.
 */
export const fingerprint = (payload: JsonObject): Uint8Array => {
  let counted = payload
  if (payload.has("_parse_error") && (payload.has("_raw") || payload.has("_value"))) {
    const rest = new Map(payload)
    rest.delete("_parse_error")
    counted = rest
  }
  return hash("sha256", canonicalJsonText(counted), "buffer")
}
