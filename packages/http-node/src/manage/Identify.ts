/**
 * Finds out who sends a management request, and counts the request against them. Refuses no credentials, and wrong, expired
 * and revoked ones, without telling which: 401. They are looked up for every request, so that what is taken away in one
 * process is refused by all at the next request.
 */
import type { Actor } from "@data-cabinet/core/audit/Actor"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { bearerToken, tokenFingerprint } from "@data-cabinet/core/key/AccessToken"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import type { RateLimit } from "@data-cabinet/core/limit/RateLimiter"
import { RateWindows } from "@data-cabinet/core/limit/RateWindows"
import { Context, Effect, Option } from "effect"
import { clientAddress } from "../limit/ClientAddress.ts"
import { HttpSettings } from "../server/HttpSettings.ts"
import type { Request } from "../server/Request.ts"
import type { ManageError } from "./ManageError.ts"

export interface Identified {
  readonly actor: Actor
  readonly rate: RateLimit
}

/** Requests a minute. */
export const ManageRates = Context.Reference<{ readonly token: number }>("@data-cabinet/http-node/manage/ManageRates", {
  defaultValue: () => ({ token: 300 }),
})

export type Identify = (request: Request) => Effect.Effect<Identified, ManageError | StoreUnavailable>

const unauthorized = (message: string): Effect.Effect<never, ManageError> =>
  Effect.fail({ code: "unauthorized", message })

const none = unauthorized("Send an access token in the header Authorization: Bearer <token>.")
const wrong = unauthorized("The access token is wrong, expired or was revoked.")

export const identify = Effect.gen(function* () {
  const tokens = yield* AccessTokens
  const windows = yield* RateWindows
  const rates = yield* ManageRates
  const { trustedProxies } = yield* HttpSettings
  const result: Identify = Effect.fnUntraced(function* (request) {
    const { authorization } = request.headers
    if (authorization === undefined) return yield* none
    const sent = bearerToken(authorization)
    const found = sent === null ? Option.none() : yield* tokens.find(tokenFingerprint(sent))
    if (Option.isNone(found)) return yield* wrong
    const { id, name, role } = found.value
    const rate = yield* windows.count(`token:${id}`, rates.token)
    const from = clientAddress(request, trustedProxies)
    return { actor: { kind: "token", id, name, role, from, requestId: request.id }, rate } satisfies Identified
  })
  return result
})
