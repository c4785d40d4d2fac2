/** The delivery addresses of a cabinet and what came of their deliveries, with promises. */
import type { Address, AddressChange, Subscription } from "@data-cabinet/core/delivery/Address"
import { AddressBook } from "@data-cabinet/core/delivery/AddressBook"
import { Addresses, type PingResult } from "@data-cabinet/core/delivery/Addresses"
import type { Attempt, Delivery } from "@data-cabinet/core/delivery/Attempt"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import type { Run } from "./RunEffect.ts"

export type { Address, AddressChange, Attempt, Delivery, PingResult, Subscription }

export interface AddressesFace {
  /** Its URL must lead to public addresses only. Without `sources`: all, those made later too. */
  readonly create: (address: { readonly url: string; readonly sources?: Subscription }) => Promise<Address>
  readonly list: () => Promise<ReadonlyArray<Address>>
  readonly get: (id: number) => Promise<Address>
  readonly change: (id: number, change: AddressChange) => Promise<Address>
  readonly remove: (id: number) => Promise<void>
  readonly pause: (id: number) => Promise<Address>
  readonly resume: (id: number) => Promise<Address>
  /** The old secret signs as well for 24 hours. */
  readonly rotateSecret: (id: number) => Promise<Address>
  /** Sends a ping at once and waits for what comes of it. */
  readonly ping: (id: number) => Promise<PingResult>
  /** The attempts, newest first; at most 100 unless another limit is given. */
  readonly log: (
    id: number,
    query?: { readonly limit?: number; readonly before?: string; readonly failedOnly?: boolean },
  ) => Promise<ReadonlyArray<Attempt>>
  readonly resend: (deliveryId: number) => Promise<Delivery>
  /** All of an address whose events were accepted in `[from, to)` (RFC 3339); answers how many. */
  readonly resendRange: (id: number, from: string, to: string) => Promise<number>
  readonly cancel: (deliveryId: number) => Promise<Delivery>
}

export const addressesFace = (run: Run): AddressesFace => ({
  create: ({ url, sources = "all" }) => run(Addresses.use((addresses) => addresses.create({ url, sources }))),
  list: () => run(AddressBook.use((book) => book.list)),
  get: (id) => run(AddressBook.use((book) => book.get(id))),
  change: (id, change) => run(Addresses.use((addresses) => addresses.set(id, change))),
  remove: (id) => run(AddressBook.use((book) => book.remove(id))),
  pause: (id) => run(AddressBook.use((book) => book.pause(id))),
  resume: (id) => run(Addresses.use((addresses) => addresses.resume(id))),
  rotateSecret: (id) => run(AddressBook.use((book) => book.rotateSecret(id))),
  ping: (id) => run(Addresses.use((addresses) => addresses.ping(id))),
  log: (id, query = {}) => run(DeliveryQueue.use((queue) => queue.log({ limit: 100, ...query, addressId: id }))),
  resend: (deliveryId) => run(Addresses.use((addresses) => addresses.resend(deliveryId))),
  resendRange: (id, from, to) => run(Addresses.use((addresses) => addresses.resendRange(id, from, to))),
  cancel: (deliveryId) => run(DeliveryQueue.use((queue) => queue.cancel(deliveryId))),
})
