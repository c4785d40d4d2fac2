/** The destinations of a remote cabinet; its server writes to them. */
import type { Destination } from "@data-cabinet/core/destination/Destination"
import { DestinationError } from "@data-cabinet/core/destination/DestinationError"
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import { snakeKeys } from "@data-cabinet/core/json/KeyCase"
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
      add: ({ credentials, ...made }) => {
        const body = { ...(snakeKeys(made) as object), credentials: credentials && snakeKeys(credentials) }
        return refusedAs(api.json<Destination>({ method: "POST", path: ["destinations"], body }), known)
      },
      change: (id, { credentials, ...change }) => {
        const secret = credentials === undefined ? {} : { credentials: snakeKeys(credentials) }
        const body = { ...(snakeKeys(change) as object), ...secret }
        return refusedAs(api.json<Destination>({ method: "PATCH", path: ["destinations", id], body }), known)
      },
      restart: (id) => one("POST", id, "restart"),
      list: refusalAsDefect(api.list<Destination>({ method: "GET", path: ["destinations"] })),
      get: (id) => one("GET", id),
      pause: (id) => one("POST", id, "pause"),
      resume: (id) => one("POST", id, "resume"),
      remove: (id) => Effect.asVoid(refusedAs(api.text({ method: "DELETE", path: ["destinations", id] }), known)),
    })
  }),
)
