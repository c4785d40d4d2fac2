/** Checks an address when it is saved, with the client that will send to it: the same name resolution, the same rule. */
import { AddressCheck, UnfitAddress } from "@data-cabinet/core/delivery/AddressCheck"
import { Effect, Layer } from "effect"
import type { OutgoingError } from "../outgoing/OutgoingError.ts"
import { PinnedClient } from "../outgoing/PinnedClient.ts"

const reasonOf = ({ code }: OutgoingError): UnfitAddress["is"] =>
  code === "not_public" || code === "name_not_found" ? code : "bad_url"

export const layer = Layer.effect(
  AddressCheck,
  Effect.map(PinnedClient, (client) =>
    AddressCheck.of({
      check: (url) =>
        Effect.asVoid(client.check(url)).pipe(
          Effect.mapError((error) => new UnfitAddress({ is: reasonOf(error), detail: error.message })),
        ),
    }),
  ),
)
