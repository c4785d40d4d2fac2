/**
 * Encrypts secrets that have to be readable (intake secrets, signing secrets, verification secrets, the values of
 * headers for addresses and polls, keys of client certificates, credentials of destinations) before they are stored, with AES-256-GCM under keys
 * that the database does not have. The first key encrypts, and every key decrypts; without a key, secrets are stored in
 * plain text. The purpose of a value is also authenticated, so that it cannot replace a value of another kind.
 *
 * Decision: docs/decisions/0060-secrets-of-others-are-encrypted-under-a-key-outside.md
 */
import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto"
import { Context, Result } from "effect"

export type SecretPurpose =
  | "signing secret"
  | "address header"
  | "client key"
  | "poll header"
  | "verification secret"
  | "challenge secret"
  | "proof secret"
  | "intake secret"
  | "destination credentials"

/** Why a stored secret cannot be used here. */
export type Undecryptable = { readonly missingKey: string } | "damaged"

const ALGORITHM = "aes-256-gcm"
const IV_BYTES = 12
const TAG_BYTES = 16

/** No secret in plain text begins like this. */
const MARK = "enc.v1."
const FORM = /^enc\.v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/

/** A name for a key that reveals nothing about it. */
const idOf = (key: Uint8Array): string => hash("sha256", Buffer.concat([Buffer.from("key id:"), key])).slice(0, 8)

export class SecretCipher {
  readonly #keys: ReadonlyMap<string, Uint8Array>
  readonly #first: readonly [id: string, key: Uint8Array] | null

  /** Keys of 32 bytes, the encrypting one first; null in its place stores new values unencrypted. */
  constructor(keys: ReadonlyArray<Uint8Array | null>) {
    const present = keys.filter((key) => key !== null)
    this.#keys = new Map(present.map((key) => [idOf(key), key]))
    const first = keys[0] ?? null
    this.#first = first === null ? null : [idOf(first), first]
  }

  /** The prefix of all values that this encrypts; null if it encrypts nothing. */
  get prefix(): string | null {
    return this.#first === null ? null : `${MARK}${this.#first[0]}.`
  }

  encrypt(purpose: SecretPurpose, text: string): string {
    if (this.#first === null) return text
    const [id, key] = this.#first
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(purpose))
    const parts = [iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]
    return `${MARK}${id}.${Buffer.concat(parts).toString("base64url")}`
  }

  decrypt(purpose: SecretPurpose, stored: string): Result.Result<string, Undecryptable> {
    if (!isEncrypted(stored)) return Result.succeed(stored)
    const [, id = "", encoded = ""] = FORM.exec(stored) ?? []
    const key = this.#keys.get(id)
    if (key === undefined) return Result.fail(id === "" ? "damaged" : { missingKey: id })
    const bytes = Buffer.from(encoded, "base64url")
    if (bytes.length < IV_BYTES + TAG_BYTES) return Result.fail("damaged")
    try {
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(bytes.subarray(-TAG_BYTES))
      const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, "utf8")
      return Result.succeed(text + decipher.final("utf8"))
    } catch {
      return Result.fail("damaged")
    }
  }
}

export const isEncrypted = (stored: string): boolean => stored.startsWith(MARK)

/** The cipher of a process; by default secrets are stored in plain text. */
export const SecretCiphers = Context.Reference<SecretCipher>("@data-cabinet/store-pg/key/SecretCipher", {
  defaultValue: () => new SecretCipher([]),
})

/** In words, for the operator. */
export const undecryptableWords = (why: Undecryptable): string =>
  why === "damaged"
    ? "a stored secret is damaged and cannot be decrypted"
    : `a secret is encrypted with a key that is not in CABINET_SECRET_KEY (its id is ${why.missingKey})`
