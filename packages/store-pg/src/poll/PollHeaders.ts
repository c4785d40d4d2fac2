/** The headers of a poll as they are stored: names as they are, so that lists may show them, and values perhaps encrypted. */
import { Result } from "effect"
import type { SecretCipher, Undecryptable } from "../key/SecretCipher.ts"

export type PollHeader = readonly [name: string, value: string]

/** A value that is encrypted is an object: a header's value may begin like one. */
export type StoredHeader = readonly [name: string, value: string | { readonly encrypted: string }]

export const encryptHeaders = (cipher: SecretCipher, headers: ReadonlyArray<PollHeader>): ReadonlyArray<StoredHeader> =>
  cipher.prefix === null
    ? headers
    : headers.map(([name, value]) => [name, { encrypted: cipher.encrypt("poll header", value) }])

export const decryptHeaders = (
  cipher: SecretCipher,
  stored: ReadonlyArray<StoredHeader>,
): Result.Result<ReadonlyArray<PollHeader>, Undecryptable> => {
  const headers: Array<PollHeader> = []
  for (const [name, value] of stored) {
    if (typeof value === "string") {
      headers.push([name, value])
      continue
    }
    const text = cipher.decrypt("poll header", value.encrypted)
    if (Result.isFailure(text)) return Result.fail(text.failure)
    headers.push([name, text.success])
  }
  return Result.succeed(headers)
}
