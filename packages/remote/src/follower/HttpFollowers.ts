/** The followers of a remote cabinet. */
import { Followers } from "@data-cabinet/core/follower/Followers"
import type { FollowerState } from "@data-cabinet/core/follower/FollowerStore"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect } from "../http/RemoteRefusal.ts"

export const layer = Layer.effect(
  Followers,
  Effect.map(ManageApi, (api) =>
    Followers.of({ list: refusalAsDefect(api.list<FollowerState>({ method: "GET", path: ["followers"] })) }),
  ),
)
