/**
 * Headers that others entered, as stored: names in plain text, so that lists can show them, and values encrypted if
 * there is a key.
 */
import type { RequestHeader } from "@data-cabinet/core/network/RequestHeader"
import { Result } from "effect"
import type { SecretCipher, Undecryptable } from "./SecretCipher.ts"

export type HeaderPurpose = "address header" | "poll header"

/** An encrypted value is stored as an object, because a header's value may begin like an encrypted one. */
export type StoredHeader = readonly [name: string, value: string | { readonly encrypted: string }]

export const encryptHeaders = (
  cipher: SecretCipher,
  purpose: HeaderPurpose,
  headers: ReadonlyArray<RequestHeader>,
): ReadonlyArray<StoredHeader> =>
  cipher.prefix === null
    ? headers
    : headers.map(([name, value]) => [name, { encrypted: cipher.encrypt(purpose, value) }])

export const decryptHeaders = (
  cipher: SecretCipher,
  purpose: HeaderPurpose,
  stored: ReadonlyArray<StoredHeader>,
): Result.Result<ReadonlyArray<RequestHeader>, Undecryptable> => {
  const headers: Array<RequestHeader> = []
  for (const [name, value] of stored) {
    if (typeof value === "string") {
      headers.push([name, value])
      continue
    }
    const text = cipher.decrypt(purpose, value.encrypted)
    if (Result.isFailure(text)) return Result.fail(text.failure)
    headers.push([name, text.success])
  }
  return Result.succeed(headers)
}
