/** Admits a caller to a screen: within the rate, with a role that allows the action. */
import type { Actor } from "@data-cabinet/core/audit/Actor"
import { type Action, mayDo, ROLE_NEEDED } from "@data-cabinet/core/key/Role"
import type { Identified, Identify } from "@data-cabinet/http-node/manage/Identify"
import { type ManageError, manageErrorOf } from "@data-cabinet/http-node/manage/ManageError"
import type { Request } from "@data-cabinet/http-node/server/Request"
import { Effect } from "effect"
import type { ConsoleRefusal } from "./ConsoleScreen.ts"

export const refused = (code: ManageError["code"], message: string) => Effect.fail<ManageError>({ code, message })

export const admitted = Effect.fnUntraced(function* (
  action: Action,
  who: Identify,
  request: Request,
): Effect.fn.Return<Identified, ConsoleRefusal> {
  const identified = yield* who(request)
  const { actor, rate } = identified
  if (!rate.allowed) {
    const { limit, retryAfter } = rate
    const message = `${limit} requests a minute are allowed; the next minute begins in ${retryAfter} s.`
    return yield* Effect.fail<ManageError>({ code: "rate_limited", message, retryAfter })
  }
  if (mayDo(actor.role, action)) return identified
  return yield* refused("role_missing", `This needs the role ${ROLE_NEEDED[action]}; yours is ${actor.role}.`)
})

/** Whether a caller who was admitted still is. True while the database is unavailable, because nothing can be shown then anyway. */
export const mayStill = (who: Identify, request: Request, action: Action | null, actor: Actor | null) =>
  Effect.match(who(request, true), {
    onSuccess: ({ actor: now }) =>
      action === null || (now.kind === actor?.kind && now.id === actor.id && mayDo(now.role, action)),
    onFailure: (error) => manageErrorOf(error).code === "unavailable",
  })
