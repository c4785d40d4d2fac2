/** Stores delivery addresses. URLs, sources and filters are not checked here: `Addresses` has checked them. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Address, AddressChange, NewAddress } from "./Address.ts"
import type { JudgedEvent } from "./TestFilter.ts"

type Returns<A> = Effect.Effect<A, StoreUnavailable>

/** None if no such address exists. */
type Found = Returns<Option.Option<Address>>

/**
 * The addresses that a source may have, those of every source included. Accepting an event creates a delivery for each of them, in the
 * one transaction that the feed waits for.
 */
export const MAX_ADDRESSES = 1_000

/** Nothing was changed: a source would have more addresses than it may. */
export interface TooManyAddresses {
  readonly is: "too_many"
  /** Null if the addresses of every source alone are too many. */
  readonly sourceId: number | null
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
    readonly list: Effect.Effect<ReadonlyArray<Address>, StoreUnavailable>
    readonly get: (id: number) => Found
    /**
     * Deliveries that are already due go to the new URL; a source that is removed still delivers the events accepted
     * before. A filter holds for all events that are committed after it, and for none that were committed before. None, and
     * nothing is changed, if the address has another URL than it was, or a new one would get headers or a client certificate that
     * it did not have: they must not go where they were not meant for. Single headers are merged with those that the address has then; if
     * these would be too many, nothing is changed either.
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
    /** Creates a new secret; the previous one also signs for 24 hours, the one before that no longer. */
    readonly rotateSecret: (id: number) => Found
    /** The facts of an event that decide its deliveries to this address; none if no such event exists. */
    readonly judged: (id: number, eventId: number) => Returns<Option.Option<JudgedEvent>>
  }
>()("@data-cabinet/core/delivery/AddressStore") {}
