/** API keys: how one looks, and the only form in which it is kept. */
import { hash } from "node:crypto"

/** A key as its owner's list shows it. Times are RFC 3339 in UTC. */
export interface ApiKey {
  readonly id: number
  readonly name: string
  /** The beginning of the key, enough to tell one from another. */
  readonly prefix: string
  readonly createdAt: string
  readonly revokedAt: string | null
  readonly lastRequestAt: string | null
}

/** A key at its issue, the one time that it is seen whole. */
export interface IssuedKey extends ApiKey {
  readonly key: string
}

/** The characters of a key that lists may show. */
export const KEY_PREFIX_LENGTH = 10

/** Writes a key from 32 random bytes. */
export const writeKey = (random: Uint8Array): string => `dck_${Buffer.from(random).toString("base64url")}`

/** sha256 of the whole key: what is stored and what a request is looked up by. */
export const keyFingerprint = (key: string): Uint8Array => hash("sha256", key, "buffer")
