/** The delivery addresses of a remote cabinet. Only those that are to be shown have their secrets; the others have none here. */
import type { Address } from "@data-cabinet/core/delivery/Address"
import { AddressError } from "@data-cabinet/core/delivery/AddressError"
import { Addresses, type PingResult } from "@data-cabinet/core/delivery/Addresses"
import { Effect, Layer } from "effect"
import { ManageApi, type ManageRequest } from "../http/ManageApi.ts"
import { refusalAsDefect, ofCodes, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(AddressError)

type Sent = Omit<Address, "secret" | "previousSecret"> & Partial<Address>

const addressOf = (sent: Sent): Address => ({ secret: "", previousSecret: null, ...sent })

export const layer = Layer.effect(
  Addresses,
  Effect.map(ManageApi, (api) => {
    const one = (request: ManageRequest) => Effect.map(refusedAs(api.json<Sent>(request), known), addressOf)
    const act = (id: number, name: string) => one({ method: "POST", path: ["addresses", id, name] })
    return Addresses.of({
      create: ({ url, sources }) => one({ method: "POST", path: ["addresses"], body: { url, sources } }),
      list: Effect.map(refusalAsDefect(api.list<Sent>({ method: "GET", path: ["addresses"] })), (all) =>
        all.map(addressOf),
      ),
      get: (id) => one({ method: "GET", path: ["addresses", id] }),
      reveal: (id) => act(id, "reveal"),
      set: (id, { url, sources }) => one({ method: "PATCH", path: ["addresses", id], body: { url, sources } }),
      remove: (id) => Effect.asVoid(refusedAs(api.text({ method: "DELETE", path: ["addresses", id] }), known)),
      pause: (id) => act(id, "pause"),
      resume: (id) => act(id, "resume"),
      rotateSecret: (id) => act(id, "rotate-secret"),
      ping: (id) => refusedAs(api.json<PingResult>({ method: "POST", path: ["addresses", id, "ping"] }), known),
    })
  }),
)
