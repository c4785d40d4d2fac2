/** Operators' tokens: for what a reader's key must never do, which is to put data in. Not an API key, and never taken for one. */
import { hash } from "node:crypto"

/** A token as its owner's list shows it. Times are RFC 3339 in UTC. */
export interface UploadToken {
  readonly id: number
  readonly name: string
  readonly prefix: string
  readonly createdAt: string
  readonly revokedAt: string | null
  readonly lastUsedAt: string | null
}

/** A token at its issue, the one time that it is seen whole. */
export interface IssuedUploadToken extends UploadToken {
  readonly token: string
}

/** The characters of a token that lists may show. */
export const TOKEN_PREFIX_LENGTH = 10

/** Writes a token from 32 random bytes. */
export const writeToken = (random: Uint8Array): string => `dco_${Buffer.from(random).toString("base64url")}`

const TOKEN_SHAPE = /^dco_[A-Za-z0-9_-]{43}$/

/** The token of an `Authorization: Bearer …` header; null for any other header, an API key's too. */
export const bearerToken = (authorization: string | undefined): string | null => {
  const sent = /^bearer +(\S+)\s*$/i.exec(authorization ?? "")?.[1]
  return sent !== undefined && TOKEN_SHAPE.test(sent) ? sent : null
}

/** sha256 of the whole token: what is stored and what a request is looked up by. */
export const tokenFingerprint = (token: string): Uint8Array => hash("sha256", token, "buffer")
