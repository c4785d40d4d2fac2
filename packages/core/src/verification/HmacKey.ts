/**
 * Binary HMAC keys, as in Standard Webhooks. Passed as bytes, a key makes a signature take Node 15 µs instead of 4,
 * because Node searches the bytes for the fields of a key object.
 */
import { createSecretKey, type KeyObject } from "node:crypto"

const PREFIX = "whsec_"

const MAX_KNOWN = 1000

/** Keys by their secrets: making a key takes as long as signing with it. */
const known = new Map<string, KeyObject>()

/** The key that a secret encodes in base64, after an optional `whsec_`. */
export const binaryKey = (secret: string): KeyObject => {
  const before = known.get(secret)
  if (before !== undefined) return before
  if (known.size >= MAX_KNOWN) known.clear()
  const key = createSecretKey(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, "base64")
  known.set(secret, key)
  return key
}
