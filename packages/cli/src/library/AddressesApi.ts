/** The delivery addresses of a cabinet and the outcomes of their deliveries, with promises. */
import type { Address, OrderedPosition, Subscription } from "@data-cabinet/core/delivery/Address"
import { Addresses, type PingResult } from "@data-cabinet/core/delivery/Addresses"
import type { Attempt, Delivery, LastAttempt } from "@data-cabinet/core/delivery/Attempt"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import type { BodyPreview, PreviewChoice, PreviewHeader } from "@data-cabinet/core/delivery/BodyPreview"
import type { BodyChoice, BodyKind, BodyMethod, BodySetting } from "@data-cabinet/core/delivery/BodySetting"
import type { ClientCertificate } from "@data-cabinet/core/delivery/ClientCertificate"
import type { ClientIdentity } from "@data-cabinet/core/delivery/ClientIdentity"
import type { Batching, DeliveryOrder } from "@data-cabinet/core/delivery/SendingSettings"
import type { FieldFilter, FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import type { FilterTest, JudgedCondition, NotSent, NotSentReason } from "@data-cabinet/core/delivery/TestFilter"
import { allItems } from "@data-cabinet/core/pagination/IdPages"
import type { Run } from "./RunEffect.ts"
import type { AddressChange, SendingSettings } from "@data-cabinet/core/delivery/NewAddress"

export type {
  Address,
  AddressChange,
  Attempt,
  Batching,
  BodyChoice,
  BodyKind,
  BodyMethod,
  BodyPreview,
  BodySetting,
  ClientCertificate,
  ClientIdentity,
  Delivery,
  DeliveryOrder,
  FieldFilter,
  FieldFilters,
  FilterTest,
  JudgedCondition,
  LastAttempt,
  NotSent,
  NotSentReason,
  OrderedPosition,
  PingResult,
  PreviewChoice,
  PreviewHeader,
  SendingSettings,
  Subscription,
}

/** Which attempts of an address to list. */
export interface AttemptsQuery {
  /** The maximum number. Default 100. */
  readonly limit?: number
  /** Only attempts that began before this time (RFC 3339). */
  readonly before?: string
  /**
   * Also attempts that began at exactly that time, of deliveries with a lower id. For the next page, pass `at` and
   * `deliveryId` of the last attempt.
   */
  readonly beforeDelivery?: number
  /** Only failed attempts. */
  readonly failedOnly?: boolean
}

/**
 * The receivers of new events. A call about an unknown address or delivery rejects with `no_such_address` or
 * `no_such_delivery`.
 */
export interface AddressesApi {
  /**
   * Adds an address that gets every event accepted from now on; the result has the signing secret. Rejects with `not_public`
   * for a URL whose host has an address that is not public. Without `sources`, it gets events of all sources, including those
   * created later. With `filters`, it gets only events for which all of them hold.
   */
  readonly create: (
    address: SendingSettings & {
      readonly url: string
      readonly sources?: Subscription
      readonly filters?: FieldFilters
    },
  ) => Promise<Address>
  /** The addresses by id, with their secrets. Without `limit` all of them, of which there may be 100,000. */
  readonly list: (query?: {
    /** Only addresses with a higher id. */
    readonly after?: number
    readonly limit?: number
  }) => Promise<ReadonlyArray<Address>>
  /** One address, with its secret. */
  readonly get: (id: number) => Promise<Address>
  /**
   * Changes the URL, which is checked like a new one, or other settings. Deliveries already due go to the new URL. A URL of
   * another origin needs the headers and the client certificate again; otherwise it rejects with `headers_needed` or
   * `certificate_needed`. `headers` replaces all headers; `setHeaders` and `removeHeaders` change single ones.
   */
  readonly change: (id: number, change: AddressChange) => Promise<Address>
  /** Removes an address, and cancels its due deliveries. */
  readonly remove: (id: number) => Promise<void>
  /** Stops deliveries until `resume`; those that become due meanwhile wait. */
  readonly pause: (id: number) => Promise<Address>
  /** Sends the waiting deliveries, and all later ones. */
  readonly resume: (id: number) => Promise<Address>
  /**
   * Skips the event at which an address with `order: "feed"` waits after a failure; the log of attempts keeps the reason.
   * Rejects with `not_skipped` for any other event.
   */
  readonly skip: (id: number, eventId: number, reason: string) => Promise<Address>
  /** Creates a new signing secret; the old one also signs for 24 hours. */
  readonly rotateSecret: (id: number) => Promise<Address>
  /** Sends a ping at once and waits for its outcome. */
  readonly ping: (id: number) => Promise<PingResult>
  /**
   * What a request to the address would carry, for an event (by default the newest one of its sources) and with a body (by
   * default that of the address). Sends nothing.
   */
  readonly preview: (id: number, choice?: PreviewChoice) => Promise<BodyPreview>
  /** Whether the address would get this event, and if not, why. Sends nothing. */
  readonly test: (id: number, eventId: number) => Promise<FilterTest>
  /** The attempts to deliver to it, newest first. */
  readonly log: (id: number, query?: AttemptsQuery) => Promise<ReadonlyArray<Attempt>>
  /** Sends a delivery again at once, whatever its state. */
  readonly resend: (deliveryId: number) => Promise<Delivery>
  /** Sends again all deliveries of an address whose events were accepted in `[from, to)` (RFC 3339). Returns how many. */
  readonly resendRange: (id: number, from: string, to: string) => Promise<number>
  /** Stops sending a delivery; a delivered one stays delivered. */
  readonly cancel: (deliveryId: number) => Promise<Delivery>
}

/** Builds the methods of `cabinet.addresses`. */
export const addressesApi = (run: Run): AddressesApi => ({
  create: ({ sources = "all", ...address }) =>
    run(Addresses.use((addresses) => addresses.create({ ...address, sources }))),
  list: ({ after = 0, limit } = {}) =>
    run(
      Addresses.use((addresses) =>
        limit === undefined ? allItems(addresses.list, after) : addresses.list({ after, limit }),
      ),
    ),
  get: (id) => run(Addresses.use((addresses) => addresses.get(id))),
  change: (id, change) => run(Addresses.use((addresses) => addresses.set(id, change))),
  remove: (id) => run(Addresses.use((addresses) => addresses.remove(id))),
  pause: (id) => run(Addresses.use((addresses) => addresses.pause(id))),
  resume: (id) => run(Addresses.use((addresses) => addresses.resume(id))),
  skip: (id, eventId, reason) => run(Addresses.use((addresses) => addresses.skip(id, { eventId, reason }))),
  rotateSecret: (id) => run(Addresses.use((addresses) => addresses.rotateSecret(id))),
  ping: (id) => run(Addresses.use((addresses) => addresses.ping(id))),
  preview: (id, choice = {}) => run(Addresses.use((addresses) => addresses.preview(id, choice))),
  test: (id, eventId) => run(Addresses.use((addresses) => addresses.test(id, eventId))),
  log: (id, query = {}) => run(Deliveries.use((deliveries) => deliveries.log({ limit: 100, ...query, addressId: id }))),
  resend: (deliveryId) => run(Deliveries.use((deliveries) => deliveries.resend(deliveryId))),
  resendRange: (id, from, to) =>
    run(Deliveries.use((deliveries) => deliveries.resendRange({ addressId: id, from, to, only: "all" }))),
  cancel: (deliveryId) => run(Deliveries.use((deliveries) => deliveries.cancel(deliveryId))),
})
