/** Access tokens, with which programs manage a cabinet, upload to it, or read a part of it. */
import * as Shape from "../json/Shape.ts"
import { hash } from "node:crypto"
import { type Role, ROLES } from "./Role.ts"

/** A token as listed to its owner. Times are RFC 3339 in UTC. */
export interface AccessToken {
  readonly id: number
  readonly name: string
  readonly role: Role
  /** The objects to which a reader is limited, under their current names, without dropped ones. Null: everything. */
  readonly only: ReadonlyArray<string> | null
  readonly prefix: string
  readonly createdAt: string
  /** Null: it does not expire. */
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly lastUsedAt: string | null
}

/** A token to be issued. */
export interface NewAccessToken {
  readonly name: string
  readonly role: Role
  /** Null: it does not expire. */
  readonly expiresInSeconds: number | null
  /**
   * For a reader: tables and views such as `sources.orders`; the table of a source includes the source. Null:
   * everything.
   */
  readonly only?: ReadonlyArray<string> | null
}

/** The resolved list of a token: sources by id, all other objects by oid. */
export interface TokenList {
  readonly sources: ReadonlyArray<number>
  readonly objects: ReadonlyArray<number>
}

/** A token to be stored. */
export interface StorableAccessToken extends Omit<NewAccessToken, "only"> {
  readonly only: TokenList | null
}

/** A token at the time of issue, the only time at which it is shown in full. */
export interface IssuedAccessToken extends AccessToken {
  readonly token: string
}

const members = {
  id: Shape.id("Its id."),
  name: Shape.text("Its name."),
  role: Shape.oneOf(ROLES, "What it may do."),
  only: Shape.orNull(
    Shape.list(Shape.text(), "The tables and views that a reader is limited to, by their names now; null: none."),
  ),
  prefix: Shape.text("The beginning of the secret, to distinguish several."),
  createdAt: Shape.time("When it was issued."),
  expiresAt: Shape.orNull(Shape.time("When it ends; null: never.")),
  revokedAt: Shape.orNull(Shape.time("When it was revoked; else null.")),
  lastUsedAt: Shape.orNull(Shape.time("Its last use, to the minute; null: none.")),
} satisfies Shape.Members<AccessToken>

/** Without the token itself. */
export const accessTokenShape = Shape.named("Token", Shape.object<AccessToken>("An access token.", members))

/** With the token itself. */
export const issuedTokenShape = Shape.named(
  "IssuedToken",
  Shape.object<IssuedAccessToken>("A token when it is issued.", {
    ...members,
    token: Shape.text("The token, shown only in this response."),
  }),
)

/** The number of a token's characters that lists may show. */
export const TOKEN_PREFIX_LENGTH = 10

/** Formats a token from 32 random bytes. A token with a list has its own prefix. */
export const writeToken = (random: Uint8Array, hasList = false): string =>
  `${hasList ? "dcr" : "dco"}_${Buffer.from(random).toString("base64url")}`

const TOKEN_SHAPE = /^dc[or]_[A-Za-z0-9_-]{43}$/

/** True for a text in the form of an access token; it may still be invalid. */
export const isToken = (text: string): boolean => TOKEN_SHAPE.test(text)

/** Whether this token, of the right form, has a list. */
export const hasList = (token: string): boolean => token.startsWith("dcr_")

/** The token in an `Authorization: Bearer …` header; null for any other header, including one with an API key. */
export const bearerToken = (authorization: string | undefined): string | null => {
  const sent = /^bearer +(\S+)\s*$/i.exec(authorization ?? "")?.[1]
  return sent !== undefined && isToken(sent) ? sent : null
}

/** SHA-256 of the whole token: the stored form, by which a request's token is looked up. */
export const tokenFingerprint = (token: string): Uint8Array => hash("sha256", token, "buffer")
