/** API keys: their format, and the only form in which they are stored. */
import * as Shape from "../json/Shape.ts"
import { hash } from "node:crypto"

/** A key as listed to its owner. Times are RFC 3339 in UTC. */
export interface ApiKey {
  readonly id: number
  readonly name: string
  /** The beginning of the key, enough to distinguish keys. */
  readonly prefix: string
  readonly createdAt: string
  /** Null for a key that does not expire. */
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly lastRequestAt: string | null
}

/** A key when it is issued, the only time that it is shown completely. */
export interface IssuedKey extends ApiKey {
  readonly key: string
}

const members = {
  id: Shape.id("Its id."),
  name: Shape.text("Its name."),
  prefix: Shape.text("The beginning of the secret, to distinguish several."),
  createdAt: Shape.time("When it was issued."),
  expiresAt: Shape.orNull(Shape.time("When it ends; null: never.")),
  revokedAt: Shape.orNull(Shape.time("When it was revoked; else null.")),
  lastRequestAt: Shape.orNull(Shape.time("Its last request; null: none.")),
} satisfies Shape.Members<ApiKey>

/** Without the key itself. */
export const apiKeyShape = Shape.named("Key", Shape.object<ApiKey>("A key of the read API.", members))

/** With the key itself. */
export const issuedKeyShape = Shape.named(
  "IssuedKey",
  Shape.object<IssuedKey>("A key when it is issued.", {
    ...members,
    key: Shape.text("The key, shown only in this response."),
  }),
)

/** How many characters of a key lists may show. */
export const KEY_PREFIX_LENGTH = 10

const START = "dck_"

/** Whether a text has the form of a key, as opposed to an access token. */
export const isKey = (text: string): boolean => text.startsWith(START)

/** Formats a key from 32 random bytes. */
export const writeKey = (random: Uint8Array): string => `${START}${Buffer.from(random).toString("base64url")}`

/** SHA-256 of the whole key: the stored form, by which a request's key is looked up. */
export const keyFingerprint = (key: string): Uint8Array => hash("sha256", key, "buffer")
