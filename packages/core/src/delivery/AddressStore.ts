/** Stores delivery addresses. URLs, sources and filters are not checked here: `Addresses` has checked them. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { IdQuery } from "../pagination/IdPages.ts"
import type { Address } from "./Address.ts"
import type { LastAttempt } from "./Attempt.ts"
import type { Claimed } from "./DeliveryQueue.ts"
import type { JudgedEvent } from "./TestFilter.ts"
import type { AddressChange, NewAddress } from "./NewAddress.ts"

type Returns<A> = Effect.Effect<A, StoreUnavailable>

/** None if no such address exists. */
type Found = Returns<Option.Option<Address>>

/** The most addresses of a source, including those of every source. */
export const MAX_ADDRESSES = 100_000

/** The most of them that have a filter. Accepting an event evaluates each of these filters. */
export const MAX_FILTERED_ADDRESSES = 1_000

/** The most ordered addresses of a cabinet: each of them reads the feed separately. */
export const MAX_ORDERED = 1_000

/** Nothing was changed: a source would have too many addresses. */
export interface TooManyAddresses {
  readonly is: "too_many"
  /** Null if the addresses of all sources, or the ordered ones, are too many. */
  readonly sourceId: number | null
  /** Whether the addresses with a filter are too many, or the addresses altogether. */
  readonly filtered: boolean
}

/**
 * Addresses that need someone: `failing` ones, including those that were paused for it, and those in order that are
 * `waiting` at an event after a failure.
 */
export type AddressTrouble = "failing" | "waiting"

/** A page of addresses. */
export interface AddressQuery extends IdQuery {
  /** Only those in trouble of either kind; one that a person paused is not meant. */
  readonly failing?: boolean
}

/** The health of an address. */
export interface AddressHealth {
  readonly id: number
  /** Null before the first. */
  readonly last: Pick<LastAttempt, "at" | "outcome" | "status" | "failure" | "durationMs"> | null
  /** How many deliveries wait for it, at most `MOST_WAITING`. */
  readonly waiting: number
}

/** An event to preview a body with. */
export interface SampleEvent {
  readonly id: number
  readonly createdAt: string
  readonly event: NonNullable<Claimed["event"]>
}

/** The state that a change was checked against. */
export type SeenAddress = Pick<Address, "url" | "headerNames" | "clientCertificate">

export class AddressStore extends Context.Service<
  AddressStore,
  {
    /** The first of these ids that belongs to no source; null if all belong to one. */
    readonly unknownSource: (sources: ReadonlyArray<number>) => Returns<number | null>
    /** Creates the address with a new signing secret; it is sent the events accepted from then on. */
    readonly create: (address: NewAddress) => Returns<Address | TooManyAddresses>
    readonly list: (query: AddressQuery) => Returns<ReadonlyArray<Address>>
    /** Those of these addresses that exist. */
    readonly some: (ids: ReadonlyArray<number>) => Returns<ReadonlyArray<Address>>
    /** One for each of these addresses, in their order. */
    readonly health: (ids: ReadonlyArray<number>) => Returns<ReadonlyArray<AddressHealth>>
    /** The first of those in trouble, by id. */
    readonly troubled: (trouble: AddressTrouble, limit: number) => Returns<ReadonlyArray<Address>>
    /** The first that get the events of a source in order. */
    readonly inOrder: (sourceId: number, limit: number) => Returns<ReadonlyArray<Address>>
    readonly count: Returns<number>
    readonly get: (id: number) => Found
    /**
     * Changes an address. Deliveries that are already due go to the new URL; a source that is removed still delivers
     * the events accepted before. A filter applies to all events committed after it, and to none committed before.
     *
     * Returns none and changes nothing if the address's URL has changed meanwhile, or if a new URL would receive
     * headers or a client certificate that were meant for the old one. Single headers are merged with the current ones;
     * if these would be too many, nothing changes either.
     */
    readonly set: (
      id: number,
      change: AddressChange,
      was: SeenAddress,
    ) => Returns<Option.Option<Address> | TooManyAddresses>
    /** Cancels all due deliveries. The attempt log is kept for its retention period. */
    readonly remove: (id: number) => Returns<{ readonly existed: boolean }>
    readonly pause: (id: number) => Found
    readonly resume: (id: number) => Found
    /** Creates a new secret; the previous one also signs for 24 hours, an older one no longer. */
    readonly rotateSecret: (id: number) => Found
    /**
     * An event as it would be sent to an address; without an id, the newest event of its sources. None if there is no
     * such event.
     */
    readonly sample: (id: number, eventId: number | null) => Returns<Option.Option<SampleEvent>>
    /** The facts about an event that decide whether it is delivered to this address; none if no such event exists. */
    readonly judged: (id: number, eventId: number) => Returns<Option.Option<JudgedEvent>>
  }
>()("@data-cabinet/core/delivery/AddressStore") {}
