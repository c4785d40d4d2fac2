/** The followers of a remote cabinet. */
import { Followers, FollowerError } from "@data-cabinet/core/follower/Followers"
import type { FollowerState } from "@data-cabinet/core/follower/FollowerStore"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusalAsDefect, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(FollowerError)

export const layer = Layer.effect(
  Followers,
  Effect.map(ManageApi, (api) =>
    Followers.of({
      list: refusalAsDefect(api.list<FollowerState>({ method: "GET", path: ["followers"] })),
      reset: (id, to) =>
        Effect.asVoid(refusedAs(api.text({ method: "POST", path: ["followers", id, "reset"], body: { to } }), known)),
      remove: (id) => Effect.asVoid(refusedAs(api.text({ method: "DELETE", path: ["followers", id] }), known)),
    }),
  ),
)
