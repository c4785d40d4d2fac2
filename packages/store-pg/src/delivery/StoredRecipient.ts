/** The parts of an address's row that are needed to send to it, decrypted. */
import type { RequestHeader } from "@data-cabinet/core/network/RequestHeader"
import type { BodySetting } from "@data-cabinet/core/delivery/BodySetting"
import type { ClientIdentity } from "@data-cabinet/core/delivery/ClientIdentity"
import type { Recipient } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Result } from "effect"
import type { SecretCipher } from "../key/SecretCipher.ts"
import { decryptHeaders, type StoredHeader } from "../key/StoredHeaders.ts"

/** The columns as they are stored. */
export interface RecipientRow {
  readonly address_id: number
  readonly url: string
  readonly secret: string
  readonly previous_secret: string | null
  /** JSON; null if it has no headers. */
  readonly headers: string | null
  /** The certificate that the service presents, and its key; null if it presents no certificate. */
  readonly client_certificate: string | null
  readonly client_key: string | null
  readonly timeout_seconds: number | null
  /** JSON; null for the contract's own body. */
  readonly body: string | null
  /** Of an agent's subscription; absent where agents' deliveries are not claimed. */
  readonly subscription?: string | null
  readonly subscription_event?: string | null
  readonly subscription_source?: number | null
}

/** The secrets that can be decrypted, newest first. */
const secretsOf = (
  { secret, previous_secret: previous }: RecipientRow,
  cipher: SecretCipher,
): ReadonlyArray<string> => {
  const newest = cipher.decrypt("signing secret", secret)
  const secrets = Result.isSuccess(newest) ? [newest.success] : []
  if (previous === null) return secrets
  const older = cipher.decrypt("signing secret", previous)
  return Result.isSuccess(older) ? [...secrets, older.success] : secrets
}

const headersOf = ({ headers }: RecipientRow, cipher: SecretCipher): ReadonlyArray<RequestHeader> | null => {
  if (headers === null) return []
  const stored = JSON.parse(headers) as ReadonlyArray<StoredHeader>
  return Result.getOrElse(decryptHeaders(cipher, "address header", stored), () => null)
}

/** Undefined without one, and null if its key cannot be decrypted. */
const identityOf = (row: RecipientRow, cipher: SecretCipher): ClientIdentity | null | undefined => {
  const { client_certificate: certificate, client_key: stored } = row
  if (certificate === null || stored === null) return undefined
  const key = cipher.decrypt("client key", stored)
  return Result.isSuccess(key) ? { certificate, key: key.success } : null
}

const agentOf = ({ subscription = null, subscription_event, subscription_source = null }: RecipientRow) =>
  subscription === null ? {} : { agent: { subscription, event: subscription_event!, sourceId: subscription_source } }

/** With its secrets decrypted, which takes longer than to write and sign a delivery: once per address and claim. */
export const storedRecipient = (row: RecipientRow, cipher: SecretCipher): Recipient => {
  const identity = identityOf(row, cipher)
  return {
    addressId: row.address_id,
    url: row.url,
    secrets: secretsOf(row, cipher),
    headers: headersOf(row, cipher),
    ...(identity === undefined ? {} : { identity }),
    timeoutSeconds: row.timeout_seconds,
    ...(row.body === null ? {} : { body: JSON.parse(row.body) as BodySetting }),
    ...agentOf(row),
  }
}
