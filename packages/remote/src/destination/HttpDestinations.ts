/** The destinations of a remote cabinet; its server writes to them. */
import type { Destination } from "@data-cabinet/core/destination/Destination"
import { DestinationError, Destinations } from "@data-cabinet/core/destination/Destinations"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusalAsDefect, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(DestinationError)

export const layer = Layer.effect(
  Destinations,
  Effect.map(ManageApi, (api) => {
    const one = (method: "GET" | "POST", id: number, ...act: ReadonlyArray<string>) =>
      refusedAs(api.json<Destination>({ method, path: ["destinations", id, ...act] }), known)
    return Destinations.of({
      add: (body) => refusedAs(api.json<Destination>({ method: "POST", path: ["destinations"], body }), known),
      list: refusalAsDefect(api.list<Destination>({ method: "GET", path: ["destinations"] })),
      get: (id) => one("GET", id),
      pause: (id) => one("POST", id, "pause"),
      resume: (id) => one("POST", id, "resume"),
      remove: (id) => Effect.asVoid(refusedAs(api.text({ method: "DELETE", path: ["destinations", id] }), known)),
    })
  }),
)
