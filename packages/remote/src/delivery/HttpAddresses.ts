/**
 * The delivery addresses of a remote cabinet. Their settings are also checked here, so that refusals have the same
 * words. Only a request that reveals an address returns its secret.
 */
import type { Address } from "@data-cabinet/core/delivery/Address"
import { AddressError } from "@data-cabinet/core/delivery/AddressError"
import { Addresses, type PingResult } from "@data-cabinet/core/delivery/Addresses"
import { checkSettings } from "@data-cabinet/core/delivery/AddressSettings"
import type { BodyPreview } from "@data-cabinet/core/delivery/BodyPreview"
import { checkFilters } from "@data-cabinet/core/delivery/FieldFilter"
import type { FilterTest } from "@data-cabinet/core/delivery/TestFilter"
import { snakeKeys } from "@data-cabinet/core/json/KeyCase"
import type { RequestHeader } from "@data-cabinet/core/network/RequestHeader"
import { Effect, Layer } from "effect"
import { idPages, ManageApi, type ManageRequest } from "../http/ManageApi.ts"
import { refusalAsDefect, ofCodes, refusedAs } from "../http/RemoteRefusal.ts"
import type { AddressChange } from "@data-cabinet/core/delivery/NewAddress"

const known = ofCodes(AddressError)

type Sent = Omit<Address, "secret" | "previousSecret"> & Partial<Address>

const addressOf = (sent: Sent): Address => ({ secret: "", previousSecret: null, ...sent })

const checked = (change: AddressChange) =>
  Effect.all([Effect.fromResult(checkFilters(change.filters ?? [])), Effect.fromResult(checkSettings(change))])

const headerJson = ([name, value]: RequestHeader) => ({ name, value })

const sentSettings = ({ headers, setHeaders, ...settings }: AddressChange) =>
  snakeKeys({
    ...settings,
    headers: headers?.map(headerJson),
    setHeaders: setHeaders?.map(headerJson),
  }) as object

export const layer = Layer.effect(
  Addresses,
  Effect.map(ManageApi, (api) => {
    const one = (request: ManageRequest) => Effect.map(refusedAs(api.json<Sent>(request), known), addressOf)
    const act = (id: number, name: string) => one({ method: "POST", path: ["addresses", id, name] })
    return Addresses.of({
      create: (address) =>
        Effect.andThen(checked(address), one({ method: "POST", path: ["addresses"], body: sentSettings(address) })),
      list: ({ failing = false, ...query }) =>
        Effect.map(
          refusalAsDefect(idPages<Sent>(api, "addresses", query, failing ? [["failing", "true"]] : [])),
          (all) => all.map(addressOf),
        ),
      get: (id) => one({ method: "GET", path: ["addresses", id] }),
      reveal: (id) => act(id, "reveal"),
      set: (id, change) =>
        Effect.andThen(checked(change), one({ method: "PATCH", path: ["addresses", id], body: sentSettings(change) })),
      remove: (id) => Effect.asVoid(refusedAs(api.text({ method: "DELETE", path: ["addresses", id] }), known)),
      pause: (id) => act(id, "pause"),
      resume: (id) => act(id, "resume"),
      rotateSecret: (id) => act(id, "rotate-secret"),
      skip: (id, { eventId, reason }) =>
        one({ method: "POST", path: ["addresses", id, "skip"], body: { event_id: eventId, reason } }),
      ping: (id) => refusedAs(api.json<PingResult>({ method: "POST", path: ["addresses", id, "ping"] }), known),
      preview: (id, { eventId, body }) =>
        refusedAs(
          api.json<BodyPreview>({
            method: "POST",
            path: ["addresses", id, "preview"],
            body: snakeKeys({ eventId, body }) as object,
          }),
          known,
        ),
      test: (id, eventId) =>
        refusedAs(api.json<FilterTest>({ method: "GET", path: ["addresses", id, "events", eventId] }), known),
    })
  }),
)
