/** Checks that a URL leads only to public addresses. Called when an address is saved; every request checks again. */
import { Context, Data, type Effect } from "effect"
import { AddressError } from "./AddressError.ts"

/** Why requests cannot go to a URL; `detail` names the address and its network, or the name server's error. */
export class UnfitAddress extends Data.TaggedError("UnfitAddress")<{
  readonly is: "not_public" | "name_not_found" | "bad_url"
  readonly detail: string
}> {}

export class AddressCheck extends Context.Service<
  AddressCheck,
  {
    /** Resolves the host, but opens no connection to it. */
    readonly check: (url: URL) => Effect.Effect<void, UnfitAddress>
  }
>()("@data-cabinet/core/delivery/AddressCheck") {}

/** Saving and sending may happen in two processes, each with its own setting. */
const ALLOW =
  ". Requests go to public addresses only, which keeps the server from being used against its own network (SSRF). To allow this one, name its network in CABINET_ALLOWED_NETWORKS, both for the server and for the command (a program's option: allowedNetworks)"

/** Explains the refusal of a URL. */
export const unfitAddress = ({ is, detail }: UnfitAddress): AddressError =>
  new AddressError({ code: is, message: is === "not_public" ? `${detail}${ALLOW}` : detail })
