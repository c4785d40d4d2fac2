/** The followers of the feed over the management API. */
import { followerShape, Followers } from "@data-cabinet/core/follower/Followers"
import { Effect } from "effect"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { list, whole } from "../manage/ManageResponses.ts"

export const manageFollowers = Effect.map(Followers, (followers) => [
  manageEndpoint({
    id: "listFollowers",
    tag: "Database",
    method: "GET",
    path: "/manage/v1/followers",
    summary: "The work behind the feed",
    description:
      "Each follower is work that is done for every event, in the order of the feed and behind it: its position, how far it is behind, and why it waits. Nothing is skipped: a follower that fails is tried again at its position.",
    action: "diagnostics.read",
    response: list(followerShape, "The followers."),
    respond: () => Effect.map(followers.list, (all) => whole(all.map(followerShape.json))),
  }),
])
