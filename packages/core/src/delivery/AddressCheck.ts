/** Checks that a URL leads only to public addresses. Called when an address is saved; sending makes its own check. */
import { Context, type Effect } from "effect"
import type { AddressError } from "./AddressError.ts"

export class AddressCheck extends Context.Service<
  AddressCheck,
  {
    /** Fails with `not_public` or `name_not_found`, naming the address and the reason. Opens no connection to the host. */
    readonly check: (url: URL) => Effect.Effect<void, AddressError>
  }
>()("@data-cabinet/core/delivery/AddressCheck") {}
