/** The deliveries of a claim, from the rows that it returned. */
import type { Claimed, Recipient } from "@data-cabinet/core/delivery/DeliveryQueue"
import type { SourceNames } from "../feed/SourceNames.ts"
import type { SecretCipher } from "../key/SecretCipher.ts"
import type { AddressRow, ClaimedRow, PingRow } from "./ClaimStatement.ts"
import { claimedEvent, sentTimestamp } from "./ClaimedToJson.ts"
import { type RecipientRow, storedRecipient } from "./StoredRecipient.ts"

const eventOf = (row: ClaimedRow, names: SourceNames): Claimed["event"] => {
  const json = claimedEvent(row, names)
  return json === null ? null : { json, sourceId: row.source_id!, sourceName: row.source_name! }
}

const toClaimed = (
  row: ClaimedRow,
  recipient: Recipient,
  names: SourceNames,
  notBeforeMillis: number | null,
): Claimed => ({
  id: row.id,
  type: row.type,
  recipient,
  notBeforeMillis,
  attempt: row.attempt,
  failures: row.failures,
  createdAt: sentTimestamp(row.created_at),
  event: eventOf(row, names),
})

const isDelivery = (row: ClaimedRow | AddressRow): row is ClaimedRow => row.id !== null

const recipientOf = ({ recipient }: Pick<AddressRow, "recipient">, cipher: SecretCipher): Recipient =>
  storedRecipient(JSON.parse(recipient) as RecipientRow, cipher)

/** With the recipients that they share, and when each may be sent at the rate of its address. */
export const claimedDeliveries = (
  rows: ReadonlyArray<ClaimedRow | AddressRow>,
  names: SourceNames,
  cipher: SecretCipher,
  now: number,
) => {
  const deliveries = rows.filter(isDelivery)
  const recipients = new Map<number, Recipient>()
  for (let index = deliveries.length; index < rows.length; index++) {
    const recipient = recipientOf(rows[index] as AddressRow, cipher)
    recipients.set(recipient.addressId, recipient)
  }
  const next = new Map<number, number>()
  return deliveries.map((row) => {
    const { address_id: addressId, rate, pace_millis: paceMillis } = row
    const recipient = recipients.get(addressId)!
    if (rate === null || paceMillis === null) return toClaimed(row, recipient, names, null)
    const at = next.get(addressId) ?? now + paceMillis
    next.set(addressId, at + 1000 / rate)
    return toClaimed(row, recipient, names, at)
  })
}

export const claimedPing = (ping: PingRow, names: SourceNames, cipher: SecretCipher): Claimed =>
  toClaimed(ping, recipientOf(ping, cipher), names, null)
