/** Where delivery addresses are kept. It believes the URLs it is given: they were checked by `Addresses`. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Address, AddressChange, NewAddress } from "./Address.ts"
import type { AddressError } from "./AddressError.ts"

type Answer<A> = Effect.Effect<A, AddressError | StoreUnavailable>

export class AddressStore extends Context.Service<
  AddressStore,
  {
    /** Makes the address with a new signing secret; it hears of events accepted from then on. */
    readonly create: (address: NewAddress) => Answer<Address>
    readonly list: Effect.Effect<ReadonlyArray<Address>, StoreUnavailable>
    readonly get: (id: number) => Answer<Address>
    /** What is already due goes to the new URL; a source left out still gets what was accepted before. */
    readonly set: (id: number, change: AddressChange) => Answer<Address>
    /** Cancels what is still due. The attempt log stays for its time. */
    readonly remove: (id: number) => Answer<void>
    readonly pause: (id: number) => Answer<Address>
    readonly resume: (id: number) => Answer<Address>
    /** A new secret; the one before it signs as well for 24 hours, the one before that no more. */
    readonly rotateSecret: (id: number) => Answer<Address>
  }
>()("@data-cabinet/core/delivery/AddressStore") {}
