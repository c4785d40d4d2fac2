/**
 * A sign-in begun at an identity provider, as text that the browser keeps for ten minutes. The browser can neither read
 * nor change it: AES-256-GCM under a key shared by all processes of a cabinet.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import type { CursorKey } from "../pagination/CursorKey.ts"
import type { SignInAttempt } from "./IdentityProvider.ts"

/** How long a sign-in at a provider may take. */
export const ATTEMPT_SECONDS = 600

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** A sign-in that has begun. */
export interface BegunSignIn extends SignInAttempt {
  /** The browser's destination after sign-in. */
  readonly to: string
}

/** Derives the key from text that no cursor can equal. */
const keyOf = (key: CursorKey): Buffer => key.sign("\0sealed sign-in")

/** Encrypts a sign-in for the browser. */
export const sealAttempt = (key: CursorKey, { state, nonce, verifier, to }: BegunSignIn, now: number): string => {
  const iv = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv("aes-256-gcm", keyOf(key), iv)
  const text = JSON.stringify([Math.floor(now / 1000) + ATTEMPT_SECONDS, state, nonce, verifier, to])
  const sealed = [cipher.update(text, "utf8"), cipher.final()]
  return Buffer.concat([iv, ...sealed, cipher.getAuthTag()]).toString("base64url")
}

/** Null if too old, or not sealed with this key. */
export const openAttempt = (key: CursorKey, sealed: string, now: number): BegunSignIn | null => {
  const bytes = Buffer.from(sealed, "base64url")
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null
  const decipher = createDecipheriv("aes-256-gcm", keyOf(key), bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const opened = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
    const [until, state, nonce, verifier, to] = JSON.parse(opened.toString("utf8")) as readonly [
      number,
      string,
      string,
      string,
      string,
    ]
    return until * 1000 > now ? { state, nonce, verifier, to } : null
  } catch {
    return null
  }
}
