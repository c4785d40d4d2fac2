/** A delivery address: the URL that is sent new events, the sources that it subscribes to, and its signing secret. */
import { mayDo, type Role } from "../key/Role.ts"
import { maskUrl } from "../network/MaskedUrl.ts"
import type { FieldFilters } from "./FieldFilter.ts"

/** `"all"` means every source, including those created later. */
export type Subscription = "all" | ReadonlyArray<number>

/** The signing secret that was replaced; it signs in addition to the new one until `until` (RFC 3339). */
export interface PreviousSecret {
  readonly secret: string
  readonly until: string
}

/** Times are RFC 3339 in UTC. The secrets are for the owner alone and never logged. */
export interface Address {
  readonly id: number
  readonly url: string
  readonly secret: string
  readonly previousSecret: PreviousSecret | null
  readonly sources: Subscription
  /** It is sent only events for which all of them hold. */
  readonly filters: FieldFilters
  /** How many events it was not sent because of its filters, but for the last seconds. */
  readonly filteredEvents: number
  readonly createdAt: string
  /** While set, nothing is sent; deliveries that become due meanwhile wait. */
  readonly pausedAt: string | null
  /** The first failed attempt since the last delivered one. */
  readonly failingSince: string | null
}

/** Its URL for somebody with this role, or with none: the query string is a secret for whoever may not see the others. */
export const shownAddressUrl = ({ url }: Pick<Address, "url">, role: Role | null): string =>
  role !== null && mayDo(role, "address.reveal") ? url : maskUrl(url)

export interface NewAddress {
  readonly url: string
  readonly sources: Subscription
  /** By default none. */
  readonly filters?: FieldFilters
}

/** The changes to an address; absent fields stay unchanged. */
export interface AddressChange {
  /** The new URL. */
  readonly url?: string
  /** The new subscription. */
  readonly sources?: Subscription
  /** All conditions of the new filter; without any, every event passes. */
  readonly filters?: FieldFilters
}
