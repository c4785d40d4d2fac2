/** A delivery address: where a customer wants to be told of new events, of which sources, and with which secret. */

/** `"all"` means every source, those made later too. */
export type Subscription = "all" | ReadonlyArray<number>

/** The signing secret that was replaced; it signs beside the new one until `until` (RFC 3339). */
export interface PreviousSecret {
  readonly secret: string
  readonly until: string
}

/** Times are RFC 3339 in UTC. The secrets are for the owner alone, never logged. */
export interface Address {
  readonly id: number
  readonly url: string
  readonly secret: string
  readonly previousSecret: PreviousSecret | null
  readonly sources: Subscription
  readonly createdAt: string
  /** Nothing is sent while it is set; what comes due meanwhile waits. */
  readonly pausedAt: string | null
  /** The first failed attempt since the last delivered one. */
  readonly failingSince: string | null
}

export interface NewAddress {
  readonly url: string
  readonly sources: Subscription
}

/** What is to be different; what is left out stays as it is. */
export interface AddressChange {
  /** Where to send from now on. */
  readonly url?: string
  /** Of which sources to tell it from now on. */
  readonly sources?: Subscription
}
