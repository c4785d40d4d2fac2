/** Whether a URL leads to public addresses only: asked when an address is saved. Sending asks again, by itself. */
import { Context, type Effect } from "effect"
import type { AddressError } from "./AddressError.ts"

export class AddressCheck extends Context.Service<
  AddressCheck,
  {
    /** Fails with `not_public` or `name_not_found`, saying which address and why. Opens no connection to the host. */
    readonly check: (url: URL) => Effect.Effect<void, AddressError>
  }
>()("@data-cabinet/core/delivery/AddressCheck") {}
