/** Checks an address when it is saved, with the client that will send to it: the same name resolution, the same rule. */
import { AddressCheck } from "@data-cabinet/core/delivery/AddressCheck"
import { AddressError } from "@data-cabinet/core/delivery/AddressError"
import { Effect, Layer } from "effect"
import type { OutgoingError } from "../outgoing/OutgoingError.ts"
import { PinnedClient } from "../outgoing/PinnedClient.ts"

const codeOf = (error: OutgoingError): AddressError["code"] =>
  error.code === "not_public" || error.code === "name_not_found" ? error.code : "bad_url"

/** Saving and sending may happen in two processes, each with its own setting. */
const ALLOW =
  ". Requests go to public addresses only, which keeps the server from being used against its own network (SSRF). To allow this one, name its network in CABINET_ALLOWED_NETWORKS, both for the server and for the command (a program's option: allowedNetworks)"

export const layer = Layer.effect(
  AddressCheck,
  Effect.gen(function* () {
    const client = yield* PinnedClient
    return AddressCheck.of({
      check: (url) =>
        Effect.asVoid(client.check(url)).pipe(
          Effect.mapError((error) => {
            const code = codeOf(error)
            return new AddressError({
              code,
              message: code === "not_public" ? `${error.message}${ALLOW}` : error.message,
            })
          }),
        ),
    })
  }),
)
