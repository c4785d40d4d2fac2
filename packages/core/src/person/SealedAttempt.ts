/**
 * A sign-in begun at an identity provider, as text that the browser keeps for ten minutes. The browser can neither read
 * nor change it (`SealedText`).
 */
import type { CursorKey } from "../pagination/CursorKey.ts"
import type { SignInAttempt } from "./IdentityProvider.ts"
import { openText, sealText } from "./SealedText.ts"

/** How long a sign-in at a provider may take. */
export const ATTEMPT_SECONDS = 600

/** A sign-in that has begun. */
export interface BegunSignIn extends SignInAttempt {
  /** The browser's destination after sign-in. */
  readonly to: string
}

const PURPOSE = "sign-in"

/** Encrypts a sign-in for the browser. */
export const sealAttempt = (key: CursorKey, { state, nonce, verifier, to }: BegunSignIn, now: number): string => {
  const text = JSON.stringify([Math.floor(now / 1000) + ATTEMPT_SECONDS, state, nonce, verifier, to])
  return sealText(key, PURPOSE, Buffer.from(text))
}

/** Null if too old, or not sealed with this key. */
export const openAttempt = (key: CursorKey, sealed: string, now: number): BegunSignIn | null => {
  const opened = openText(key, PURPOSE, sealed)
  if (opened === null) return null
  const [until, state, nonce, verifier, to] = JSON.parse(opened.toString("utf8")) as readonly [
    number,
    string,
    string,
    string,
    string,
  ]
  return until * 1000 > now ? { state, nonce, verifier, to } : null
}
