/** The caller's identity: a program or a screen needs it to know what to offer. */
import { sessionJson } from "@data-cabinet/core/person/PersonJson"
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
    description: "The token or the person that the request was sent by, with their role and session.",
    action: "self.read",
    response: one("Self", "Who is asking."),
    respond: ({ actor: { kind, id, name, role }, session }) =>
      Effect.succeed({ kind, id, name, role, session: session === null ? null : sessionJson(session) }),
  }),
])
