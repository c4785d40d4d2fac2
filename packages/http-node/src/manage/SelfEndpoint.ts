/** Who is asking: what a program or a screen needs to know before it offers anything. */
import { Effect } from "effect"
import { one } from "./ManageResponses.ts"
import { manageEndpoint } from "./ManageEndpoint.ts"

export const manageSelf = Effect.succeed([
  manageEndpoint({
    id: "getSelf",
    tag: "Self",
    method: "GET",
    path: "/manage/v1/me",
    summary: "Who is asking",
    description: "The token that the request was sent with, and its role.",
    action: "self.read",
    response: one("Self", "Who is asking."),
    respond: ({ actor: { kind, id, name, role } }) => Effect.succeed({ kind, id, name, role }),
  }),
])
