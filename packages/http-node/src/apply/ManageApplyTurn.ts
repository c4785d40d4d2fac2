/** The turn of `cabinet apply` over the management API. */
import { ApplyTurn, MAX_HOLDER_LENGTH, TURN_SECONDS } from "@data-cabinet/core/apply/ApplyTurn"
import * as Shape from "@data-cabinet/core/json/Shape"
import { Effect, Schema } from "effect"
import { text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { nothing, one } from "../manage/ManageResponses.ts"

const body = Schema.Struct({
  holder: text(MAX_HOLDER_LENGTH, "A random text of the client's, the same until it ends its turn.").check(
    Schema.isMinLength(1),
  ),
})

const turnShape = Shape.named(
  "ApplyTurn",
  Shape.object<{ readonly taken: boolean }>("Whose turn it is.", {
    taken: Shape.flag("Whether this client has it; false: another one does."),
  }),
)

export const manageApplyTurn = Effect.map(ApplyTurn, (turn) => [
  manageEndpoint({
    id: "takeApplyTurn",
    tag: "Database",
    method: "POST",
    path: "/manage/v1/apply-turn",
    summary: "Take the turn to apply a file",
    description: `\`cabinet apply\` takes the turn before it reads the state of the cabinet, and renews it until it is done, so that one of them acts at a time. Without being renewed it ends after ${TURN_SECONDS} seconds. It keeps no other request out.`,
    action: "source.change",
    body,
    response: one(turnShape, "Whether it was taken, or renewed."),
    respond: ({ body: { holder } }) => Effect.map(turn.take(holder), (taken) => turnShape.json({ taken })),
  }),
  manageEndpoint({
    id: "endApplyTurn",
    tag: "Database",
    method: "POST",
    path: "/manage/v1/apply-turn/end",
    summary: "End the turn",
    description: "The next one may begin. The turn of another client stays.",
    action: "source.change",
    body,
    response: nothing("The turn has ended."),
    respond: ({ body: { holder } }) => Effect.as(turn.end(holder), undefined),
  }),
])
