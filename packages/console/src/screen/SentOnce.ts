/**
 * A form that is sent again, by a reload or a second click, does its work once: the repeat is redirected to the screen that shows
 * the result. The response is not kept, so that a secret is shown only once. A form without an id, as a program sends it, does
 * its work each time.
 */
import type { Idempotency } from "@data-cabinet/core/idempotency/Idempotency"
import { type ManageError, manageErrorOf } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import { FORM_ID } from "../html/PostForm.ts"
import { consolePath } from "../html/Shell.ts"
import type { ConsoleRefusal, ConsoleScreen, FormCall, ScreenResult } from "./ConsoleScreen.ts"

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

const badId: ManageError = {
  code: "bad_param",
  message: `${FORM_ID} must be the id that the form was shown with, sent once: open the screen again and send its form.`,
  param: FORM_ID,
}

const lost: ManageError = {
  code: "outcome_unknown",
  message: "This form was sent before, and it is unknown whether its work was done: check before you send it again.",
}

/**
 * The record is completed after the work, not in a transaction around it, so that a waiting form holds no session of
 * the owner besides what its use case needs. If a process is killed in between, the outcome is unknown, and a person
 * can check it.
 */
export const sentOnce = (
  idempotency: Idempotency["Service"],
  { path, post, back }: ConsoleScreen,
  call: FormCall,
): Effect.Effect<ScreenResult, ConsoleRefusal> => {
  const { repeat, respond } = post!
  const { actor, form } = call
  const [id, ...more] = form.flatMap(([name, value]) => (name === FORM_ID ? [value] : []))
  if (id !== undefined && (more.length > 0 || !UUID.test(id))) return Effect.fail(badId)
  const isOnce = typeof repeat === "string" ? repeat === "once" : repeat(call) === "once"
  if (!isOnce || id === undefined || actor === null) return respond(call)
  // The same form with other values, as after a step back, counts as another form.
  const sent = JSON.stringify([path, call.path, form])
  const request = { actor: `${actor.kind} ${actor.id ?? actor.name}`, key: sent, request: sent }
  const home = { location: consolePath(call.frame, back?.(call.path)) }
  return idempotency.once(request, { completed: "after", work: respond(call), kept: () => "" }).pipe(
    Effect.map((outcome) => (outcome.replayed ? home : outcome.result)),
    Effect.catch((error): Effect.Effect<ScreenResult, ConsoleRefusal> => {
      const { code } = manageErrorOf(error)
      if (code === "in_progress") return Effect.succeed({ ...home, isUnknown: true })
      return Effect.fail(code === "outcome_unknown" ? lost : error)
    }),
  )
}
