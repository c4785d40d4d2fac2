/** Stores delivery addresses. URLs are not checked here: `Addresses` has checked them. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Address, AddressChange, NewAddress } from "./Address.ts"
import type { AddressError } from "./AddressError.ts"

type Answer<A> = Effect.Effect<A, AddressError | StoreUnavailable>

export class AddressStore extends Context.Service<
  AddressStore,
  {
    /** Creates the address with a new signing secret; it is sent the events accepted from then on. */
    readonly create: (address: NewAddress) => Answer<Address>
    readonly list: Effect.Effect<ReadonlyArray<Address>, StoreUnavailable>
    readonly get: (id: number) => Answer<Address>
    /**
     * Deliveries that are already due go to the new URL; a source that is removed still delivers the events accepted
     * before.
     */
    readonly set: (id: number, change: AddressChange) => Answer<Address>
    /** Cancels all due deliveries. The attempt log is kept for its retention period. */
    readonly remove: (id: number) => Answer<void>
    readonly pause: (id: number) => Answer<Address>
    readonly resume: (id: number) => Answer<Address>
    /** Creates a new secret; the previous one also signs for 24 hours, the one before that no longer. */
    readonly rotateSecret: (id: number) => Answer<Address>
  }
>()("@data-cabinet/core/delivery/AddressStore") {}
