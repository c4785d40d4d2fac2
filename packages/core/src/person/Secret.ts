/** The secrets of people: of one-time links and of sessions. 256 random bits each; only their SHA-256 is kept. */
import { hash, randomBytes } from "node:crypto"

/** The purpose of a secret. */
export type SecretKind = "link" | "session"

const PREFIX = { link: "dcl_", session: "dcs_" } as const satisfies Record<SecretKind, string>

/** A new secret with its fingerprint. */
export const newSecret = (kind: SecretKind): string => PREFIX[kind] + randomBytes(32).toString("base64url")

/**
 * The fingerprint by which it is looked up; null for a text that is not a secret of this kind, which needs no lookup.
 */
export const secretFingerprint = (kind: SecretKind, text: string): Uint8Array | null =>
  text.startsWith(PREFIX[kind]) && /^[A-Za-z0-9_-]{43}$/.test(text.slice(PREFIX[kind].length))
    ? hash("sha256", text, "buffer")
    : null
