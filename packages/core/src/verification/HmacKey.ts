/**
 * Binary HMAC keys, as in Standard Webhooks. Passed as bytes, a key makes a signature take Node 15 µs instead of 4,
 * because Node searches the bytes for the fields of a key object.
 */
import { createSecretKey, type KeyObject } from "node:crypto"

const PREFIX = "whsec_"

/** The key that a secret encodes in base64, after an optional `whsec_`. */
export const binaryKey = (secret: string): KeyObject =>
  createSecretKey(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, "base64")
