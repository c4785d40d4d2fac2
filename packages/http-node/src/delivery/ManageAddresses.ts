/** Delivery addresses over the management API: their settings and their secrets. */
import {
  addressShape,
  addressWithSecretShape,
  type Address,
  shownAddressUrl,
} from "@data-cabinet/core/delivery/Address"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import type { Actor } from "@data-cabinet/core/audit/Actor"
import { Effect } from "effect"
import { ADDRESS_ERRORS, ADDRESS_PARAMS, addressChange, changeOf, headersPointer, newAddress } from "./AddressBodies.ts"
import { about, addressDeliveries, common } from "./ManageAddressDeliveries.ts"
import { idPage, list, nothing, one } from "../manage/ManageResponses.ts"
import { manageEndpoint, type Once } from "../manage/ManageEndpoint.ts"
import { flagParameter, idPageParameters } from "../manage/ManageParameters.ts"

const shown = (address: Address, { role }: Actor) =>
  addressShape.json({ ...address, url: shownAddressUrl(address, role) })

export const manageAddresses = Effect.gen(function* () {
  const addresses = yield* Addresses
  const once: Once = {
    completed: "transaction",
    withheld: ["secret", "previous_secret"],
    replay: one(addressShape, "The address."),
  }
  return [
    manageEndpoint({
      id: "listAddresses",
      tag: "Deliveries",
      method: "GET",
      path: "/manage/v1/addresses",
      summary: "Delivery addresses",
      description:
        "By id, without their secrets. A viewer does not see the query strings of their URLs. For the next page send `next_cursor` as `after`.",
      action: "address.read",
      parameters: [
        ...idPageParameters,
        flagParameter(
          "failing",
          "Only those whose last attempt failed, or that were paused automatically. `GET /manage/v1/addresses/{id}/attempts?failed=true` says why.",
        ),
      ],
      response: list(addressShape, "The addresses."),
      respond: ({ actor, query: { failing = false, ...query } }) =>
        idPage(
          (page) => addresses.list({ ...page, failing }),
          query,
          (address) => shown(address, actor),
        ),
    }),
    manageEndpoint({
      id: "addAddress",
      tag: "Deliveries",
      method: "POST",
      path: "/manage/v1/addresses",
      summary: "Add a delivery address",
      description:
        "It is sent every event accepted from now on. The response has the signing secret; `reveal` shows it again. Without `sources`: all, including later ones. With `filters`: only events for which they hold.",
      action: "address.change",
      once,
      body: newAddress,
      response: one(addressWithSecretShape, "The address.", 201),
      errors: ["too_many_addresses", ...ADDRESS_ERRORS],
      params: { too_many_addresses: "/sources", ...ADDRESS_PARAMS },
      respond: ({ body }) =>
        Effect.map(addresses.create({ sources: "all", ...changeOf(body), url: body.url }), (made) =>
          addressWithSecretShape.json(made),
        ),
    }),
    manageEndpoint({
      ...common,
      id: "getAddress",
      method: "GET",
      path: about(""),
      summary: "One delivery address",
      description: "One address, without its secrets. A viewer does not see the query string of its URL.",
      action: "address.read",
      response: one(addressShape, "The address."),
      respond: ({ actor, path: [address] }) => Effect.map(addresses.get(address), (found) => shown(found, actor)),
    }),
    manageEndpoint({
      ...common,
      id: "changeAddress",
      method: "PATCH",
      path: about(""),
      summary: "Change a delivery address",
      description:
        "Deliveries that are due already go to the new URL. A new filter applies to every event committed after it. Missing fields stay. Its headers and its client certificate stay with their origin: a URL of another origin needs `headers`, which may be empty, and `client_identity`, which may be null. `headers` replaces all of them; `set_headers` and `remove_headers` change single ones.",
      action: "address.change",
      body: addressChange,
      response: one(addressShape, "The address."),
      errors: [
        "no_such_address",
        "of_agent",
        "busy",
        "headers_needed",
        "certificate_needed",
        "too_many_addresses",
        ...ADDRESS_ERRORS,
      ],
      params: {
        no_such_address: "id",
        of_agent: "id",
        headers_needed: "/headers",
        certificate_needed: "/client_identity",
        too_many_addresses: "/sources",
        ...ADDRESS_PARAMS,
      },
      respond: ({ path: [address], body }) =>
        addresses.set(address, changeOf(body)).pipe(
          Effect.map(addressShape.json),
          Effect.mapError((error) =>
            "code" in error && error.code === "bad_header"
              ? { code: error.code, message: error.message, param: headersPointer(body) }
              : error,
          ),
        ),
    }),
    manageEndpoint({
      ...common,
      id: "removeAddress",
      method: "DELETE",
      path: about(""),
      summary: "Remove a delivery address",
      description:
        "Nothing more is sent to it, and due deliveries are cancelled. The attempt log is kept until it expires.",
      action: "address.change",
      response: nothing("It is removed."),
      respond: ({ path: [address] }) => Effect.as(addresses.remove(address), undefined),
    }),
    manageEndpoint({
      ...common,
      id: "revealAddress",
      method: "POST",
      path: about("/reveal"),
      summary: "Show a signing secret",
      description: "The address with its signing secret, and for a day after a change the previous one.",
      action: "address.reveal",
      response: one(addressWithSecretShape, "The address."),
      respond: ({ path: [address] }) => Effect.map(addresses.reveal(address), addressWithSecretShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "rotateAddressSecret",
      method: "POST",
      path: about("/rotate-secret"),
      summary: "A new signing secret",
      description:
        "The old secret also signs for 24 hours, so that no delivery is refused meanwhile. A second rotation would end the old one at once; a repeat with the same `Idempotency-Key` changes nothing.",
      action: "address.change",
      once,
      response: one(addressWithSecretShape, "The address.", 201),
      errors: ["no_such_address", "of_agent"],
      params: { no_such_address: "id", of_agent: "id" },
      respond: ({ path: [address] }) => Effect.map(addresses.rotateSecret(address), addressWithSecretShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "pauseAddress",
      method: "POST",
      path: about("/pause"),
      summary: "Pause a delivery address",
      description: "Nothing is sent to it; deliveries that become due meanwhile wait.",
      action: "address.change",
      response: one(addressShape, "The address."),
      respond: ({ path: [address] }) => Effect.map(addresses.pause(address), addressShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "resumeAddress",
      method: "POST",
      path: about("/resume"),
      summary: "Resume a delivery address",
      description: "Waiting deliveries are sent, and new ones.",
      action: "address.change",
      response: one(addressShape, "The address."),
      respond: ({ path: [address] }) => Effect.map(addresses.resume(address), addressShape.json),
    }),
    ...(yield* addressDeliveries),
  ]
})
