/** The feed of a remote cabinet as it grows: the server waits. */
import { FollowFeed } from "@data-cabinet/core/feed/FollowFeed"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { feedPage } from "./HttpFeed.ts"

export const layer = Layer.effect(
  FollowFeed,
  Effect.map(ManageApi, (api) =>
    FollowFeed.of({
      next: (params, { waitMillis }) =>
        Effect.map(feedPage(api, params, waitMillis), (page) => ({ page, waitedMillis: 0 })),
    }),
  ),
)
