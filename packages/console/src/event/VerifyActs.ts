/** The act that verifies the sender of one stored event, and delivers the event if requested. */
import { LateVerification } from "@data-cabinet/core/event/LateVerification"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import { act, fieldOf, idOf } from "../screen/Act.ts"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"

export const verifyActs = Effect.gen(function* () {
  const late = yield* LateVerification
  const screens: ReadonlyArray<ConsoleScreen> = [
    act({
      path: "/console/events/{id}/verify",
      action: "event.verify",
      home: ([id]) => `events/${id}`,
      // Each event is delivered once.
      repeat: "allowed",
      respond: Effect.fnUntraced(function* (call) {
        const { baseUrl, words } = call.frame
        const options = { deliver: fieldOf(call, "deliver") === "yes", baseUrl }
        const { verdicts } = yield* late.events([idOf(call.path[0])], options)
        const [verdict] = verdicts
        if (verdict?.outcome !== "unchecked" || verdict.reason === null) return null
        const message = words.event.unchecked[verdict.reason]
        return yield* Effect.fail<ManageError>({ code: "not_checkable", message })
      }),
    }),
  ]
  return screens
})
