/** The followers of the feed over the management API. */
import { followerShape, Followers, RESET_EXPECTED } from "@data-cabinet/core/follower/Followers"
import { Effect, Schema } from "effect"
import { text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idSegment } from "../manage/ManageParameters.ts"
import { list, nothing, whole } from "../manage/ManageResponses.ts"

const MAX_START_LENGTH = 12_000

const resetBody = Schema.Struct({
  to: text(MAX_START_LENGTH, `Where it continues: ${RESET_EXPECTED}.`),
})

export const manageFollowers = Effect.map(Followers, (followers) => [
  manageEndpoint({
    id: "listFollowers",
    tag: "Database",
    method: "GET",
    path: "/manage/v1/followers",
    summary: "The work behind the feed",
    description:
      "Each follower is work that is done for every event, in the order of the feed and behind it: its position, how far it is behind, and why it waits. Nothing is skipped: a follower that fails is tried again at its position. Those of kind `client` are programs with a key, which acknowledge what they have processed.",
    action: "diagnostics.read",
    response: list(followerShape, "The followers."),
    respond: () => Effect.map(followers.list, (all) => whole(all.map(followerShape.json))),
  }),
  manageEndpoint({
    id: "resetFollower",
    tag: "Database",
    method: "POST",
    path: "/manage/v1/followers/{id}/reset",
    summary: "Set a client's position",
    description:
      "Its program continues there with the next page that it reads: earlier events are processed again, skipped ones are not. Acknowledgements of pages that were read before the reset move nothing.",
    action: "follower.change",
    segments: [idSegment("The follower's id.")],
    body: resetBody,
    errors: ["no_such_follower", "bad_start"],
    params: { no_such_follower: "id", bad_start: "/to" },
    response: nothing("The position is set."),
    respond: ({ path: [id], body: { to } }) => Effect.as(followers.reset(id, to), undefined),
  }),
  manageEndpoint({
    id: "removeFollower",
    tag: "Database",
    method: "DELETE",
    path: "/manage/v1/followers/{id}",
    summary: "Forget a client's position",
    description:
      "The name is free again. A program that still uses it creates it with its next acknowledgement; one that starts begins with the first event.",
    action: "follower.change",
    segments: [idSegment("The follower's id.")],
    errors: ["no_such_follower"],
    params: { no_such_follower: "id" },
    response: nothing("The follower is removed."),
    respond: ({ path: [id] }) => Effect.as(followers.remove(id), undefined),
  }),
])
