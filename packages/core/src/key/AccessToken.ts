/** Access tokens: how programs manage a cabinet and upload to it. Not an API key, and never accepted as one. */
import { hash } from "node:crypto"
import type { Role } from "./Role.ts"

/** A token as listed to its owner. Times are RFC 3339 in UTC. */
export interface AccessToken {
  readonly id: number
  readonly name: string
  readonly role: Role
  readonly prefix: string
  readonly createdAt: string
  /** Null for one that does not expire. */
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly lastUsedAt: string | null
}

/** A token to be issued. */
export interface NewAccessToken {
  readonly name: string
  readonly role: Role
  /** Null for one that does not expire. */
  readonly expiresInSeconds: number | null
}

/** A token when it is issued, the only time that it is shown completely. */
export interface IssuedAccessToken extends AccessToken {
  readonly token: string
}

/** How many characters of a token lists may show. */
export const TOKEN_PREFIX_LENGTH = 10

/** Formats a token from 32 random bytes. */
export const writeToken = (random: Uint8Array): string => `dco_${Buffer.from(random).toString("base64url")}`

const TOKEN_SHAPE = /^dco_[A-Za-z0-9_-]{43}$/

/** The token in an `Authorization: Bearer …` header; null for any other header, including one with an API key. */
export const bearerToken = (authorization: string | undefined): string | null => {
  const sent = /^bearer +(\S+)\s*$/i.exec(authorization ?? "")?.[1]
  return sent !== undefined && TOKEN_SHAPE.test(sent) ? sent : null
}

/** SHA-256 of the whole token: the stored form, by which a request's token is looked up. */
export const tokenFingerprint = (token: string): Uint8Array => hash("sha256", token, "buffer")
