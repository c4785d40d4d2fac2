/** The address check of saving, by the client that will send: the same names, the same rule. */
import { AddressCheck } from "@data-cabinet/core/delivery/AddressCheck"
import { AddressError } from "@data-cabinet/core/delivery/AddressError"
import { Effect, Layer } from "effect"
import type { OutgoingError } from "../outgoing/OutgoingError.ts"
import { PinnedClient } from "../outgoing/PinnedClient.ts"

const codeOf = (error: OutgoingError): AddressError["code"] =>
  error.code === "not_public" || error.code === "name_not_found" ? error.code : "bad_url"

export const layer = Layer.effect(
  AddressCheck,
  Effect.gen(function* () {
    const client = yield* PinnedClient
    return AddressCheck.of({
      check: (url) =>
        Effect.asVoid(client.check(url)).pipe(
          Effect.mapError((error) => new AddressError({ code: codeOf(error), message: error.message })),
        ),
    })
  }),
)
