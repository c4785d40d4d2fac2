/**
 * Finds out who sends a management request, and counts the request against them. Refuses no credentials, and wrong, expired
 * and revoked ones, without telling which: 401; and 429 for an address that sent too many of them. They are looked up for every request, so that what is taken away in one
 * process is refused by all at the next request.
 */
import type { Actor } from "@data-cabinet/core/audit/Actor"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { bearerToken, tokenFingerprint } from "@data-cabinet/core/key/AccessToken"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import type { RateLimit } from "@data-cabinet/core/limit/RateLimiter"
import { RateWindows } from "@data-cabinet/core/limit/RateWindows"
import { Clock, Context, Effect, Option } from "effect"
import { clientAddress } from "../limit/ClientAddress.ts"
import { HttpSettings } from "../server/HttpSettings.ts"
import type { Request } from "../server/Request.ts"
import type { ManageError } from "./ManageError.ts"
import { WrongCredentials } from "./WrongCredentials.ts"

export interface Identified {
  readonly actor: Actor
  readonly rate: RateLimit
}

/** Requests a minute: of each token, and with wrong credentials from each address. */
export const ManageRates = Context.Reference<{ readonly token: number; readonly wrong: number }>(
  "@data-cabinet/http-node/manage/ManageRates",
  { defaultValue: () => ({ token: 300, wrong: 600 }) },
)

export type Identify = (request: Request) => Effect.Effect<Identified, ManageError | StoreUnavailable>

const unauthorized = (message: string): Effect.Effect<never, ManageError> =>
  Effect.fail({ code: "unauthorized", message })

const none = unauthorized("Send an access token in the header Authorization: Bearer <token>.")
const wrong = unauthorized("The access token is wrong, expired or was revoked.")

const tooManyWrong = (retryAfter: number): Effect.Effect<never, ManageError> =>
  Effect.fail({
    code: "rate_limited",
    message: `Too many wrong credentials came from this address. Try again in ${retryAfter} s.`,
    retryAfter,
  })

export const identify = Effect.gen(function* () {
  const tokens = yield* AccessTokens
  const windows = yield* RateWindows
  const rates = yield* ManageRates
  const { trustedProxies } = yield* HttpSettings
  const refused = new WrongCredentials(rates.wrong)
  const result: Identify = Effect.fnUntraced(function* (request) {
    const { authorization } = request.headers
    if (authorization === undefined) return yield* none
    const from = clientAddress(request, trustedProxies)
    const now = yield* Clock.currentTimeMillis
    const retryAfter = refused.retryAfter(from, now)
    if (retryAfter !== null) return yield* tooManyWrong(retryAfter)
    const sent = bearerToken(authorization)
    const found = sent === null ? Option.none() : yield* tokens.find(tokenFingerprint(sent))
    if (Option.isNone(found)) {
      refused.count(from, now)
      return yield* wrong
    }
    const { id, name, role } = found.value
    const rate = yield* windows.count(`token:${id}`, rates.token)
    return { actor: { kind: "token", id, name, role, from, requestId: request.id }, rate } satisfies Identified
  })
  return result
})
