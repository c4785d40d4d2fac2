/** The caller's identity: a program or a screen needs it to know what to offer. */
import type { Actor } from "@data-cabinet/core/audit/Actor"
import * as Shape from "@data-cabinet/core/json/Shape"
import { ROLES } from "@data-cabinet/core/key/Role"
import { type Session, sessionShape } from "@data-cabinet/core/person/Person"
import { Effect } from "effect"
import { one } from "./ManageResponses.ts"
import { manageEndpoint } from "./ManageEndpoint.ts"

interface Self extends Pick<Actor, "kind" | "id" | "name" | "role"> {
  readonly session: Session | null
}

const selfShape = Shape.named(
  "Self",
  Shape.object<Self>("Who is asking.", {
    kind: Shape.leaf({ enum: ["token", "person"] }),
    id: Shape.leaf(Shape.id("Of the token or the person.").schema),
    name: Shape.text("The name."),
    role: Shape.oneOf(ROLES),
    session: Shape.orNull(sessionShape, "Null without one."),
  }),
)

export const manageSelf = Effect.succeed([
  manageEndpoint({
    id: "getSelf",
    tag: "Self",
    method: "GET",
    path: "/manage/v1/me",
    summary: "Who is asking",
    description: "The token or the person that the request was sent by, with their role and session.",
    action: "self.read",
    response: one(selfShape, "Who is asking."),
    respond: ({ actor: { kind, id, name, role }, session }) =>
      Effect.succeed(selfShape.json({ kind, id, name, role, session })),
  }),
])
