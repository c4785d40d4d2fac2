/**
 * Seals a text that a browser keeps and can neither read nor change: AES-256-GCM, with a key for each purpose that all processes
 * of a cabinet share.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import type { CursorKey } from "../pagination/CursorKey.ts"

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Cursors are never signed over such a text. */
const keyOf = (key: CursorKey, purpose: string): Buffer => key.sign(`\0sealed ${purpose}`)

/** In base64url. */
export const sealText = (key: CursorKey, purpose: string, bytes: Uint8Array): string => {
  const iv = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv("aes-256-gcm", keyOf(key, purpose), iv)
  const sealed = [cipher.update(bytes), cipher.final()]
  return Buffer.concat([iv, ...sealed, cipher.getAuthTag()]).toString("base64url")
}

/** Null for anything that was not sealed here for this purpose. */
export const openText = (key: CursorKey, purpose: string, sealed: string): Buffer | null => {
  const bytes = Buffer.from(sealed, "base64url")
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null
  const decipher = createDecipheriv("aes-256-gcm", keyOf(key, purpose), bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    return null
  }
}
