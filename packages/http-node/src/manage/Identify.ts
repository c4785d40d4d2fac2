/**
 * Finds out who sends a management request, and counts the request against them. Refuses no credentials, and wrong, expired
 * and revoked ones, without telling which: 401; and 429 for an address that sent too many of them. They are looked up for every
 * request, so that what is taken away in one process is refused by all at the next request. What a browser adds by itself, a
 * cookie or a login elsewhere, changes something only from a page of our own: 403. A token with a list of objects has no business
 * here: 403.
 */
import type { Actor } from "@data-cabinet/core/audit/Actor"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { bearerToken, tokenFingerprint } from "@data-cabinet/core/key/AccessToken"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import type { RateLimit } from "@data-cabinet/core/limit/RateLimiter"
import { RateWindows } from "@data-cabinet/core/limit/RateWindows"
import { WrongCredentials } from "@data-cabinet/core/limit/WrongCredentials"
import type { LiveSession } from "@data-cabinet/core/person/Person"
import { secretFingerprint } from "@data-cabinet/core/person/Secret"
import { Sessions } from "@data-cabinet/core/person/Sessions"
import { Clock, Context, Effect, Option } from "effect"
import { clientAddress } from "../limit/ClientAddress.ts"
import { sessionCookie } from "../person/SessionCookie.ts"
import { ExternalSignIns, identifyExternal } from "../person/ExternalSignIn.ts"
import { HttpSettings } from "../server/HttpSettings.ts"
import type { Request } from "../server/Request.ts"
import { isSameOrigin } from "../server/SameOrigin.ts"
import type { ManageError } from "./ManageError.ts"

export interface Identified {
  readonly actor: Actor
  readonly rate: RateLimit
  /** Null for a token, and for somebody who signs in elsewhere. */
  readonly session: LiveSession | null
}

/** Requests a minute: of each token, of each session, and with wrong credentials from each address. */
export const ManageRates = Context.Reference<{
  readonly token: number
  readonly session: number
  readonly wrong: number
}>("@data-cabinet/http-node/manage/ManageRates", {
  defaultValue: () => ({ token: 300, session: 1_200, wrong: 600 }),
})

/** `again`: identifies the sender of a request in progress once more, without counting the request or a use of the session. */
export type Identify = (request: Request, again?: boolean) => Effect.Effect<Identified, ManageError | StoreUnavailable>

const refuse = (code: ManageError["code"], message: string): Effect.Effect<never, ManageError> =>
  Effect.fail({ code, message })

const BY_TOKEN = "Send an access token in the header Authorization: Bearer <token>"
const wrong = refuse("unauthorized", "The access token or the session is wrong, expired or revoked.")
const foreignPage = refuse(
  "cross_origin",
  "A request of a session that changes something must be sent by a page of this cabinet (same origin).",
)

/** Whatever is reached by management may show more than what is listed. */
const onlyReads = refuse("role_missing", "This token may only read what it lists, by the read API at /api/v1.")

const tooManyWrong = (retryAfter: number): Effect.Effect<never, ManageError> =>
  Effect.fail({
    code: "rate_limited",
    message: `Too many wrong credentials came from this address. Try again in ${retryAfter} s.`,
    retryAfter,
  })

const UNCOUNTED = { allowed: true, retryAfter: 0 } as const

const changesNothing = (method: string): boolean => method === "GET" || method === "HEAD"

/** Another scheme is for a proxy that asks for a password, and a session works behind it. */
export const bearerOf = ({ authorization }: Request["headers"]): string | undefined =>
  authorization !== undefined && /^bearer(?: |$)/i.test(authorization) ? authorization : undefined

export const identify = Effect.gen(function* () {
  const tokens = yield* AccessTokens
  const sessions = yield* Sessions
  const windows = yield* RateWindows
  const rates = yield* ManageRates
  const { baseUrl, trustedProxies } = yield* HttpSettings
  const external = yield* identifyExternal
  const { program } = yield* ExternalSignIns
  const none = refuse("unauthorized", program?.hint ?? `${BY_TOKEN}, or sign in.`)
  const cookie = sessionCookie(baseUrl)
  const refused = new WrongCredentials(rates.wrong)

  const counted = (key: string, limit: number, again: boolean) =>
    again ? Effect.succeed({ ...UNCOUNTED, limit, remaining: limit }) : windows.count(key, limit)

  const byToken = Effect.fnUntraced(function* (
    request: Request,
    again: boolean,
    authorization: string,
    from: string | null,
  ) {
    const sent = bearerToken(authorization)
    const found = sent === null ? Option.none() : yield* tokens.find(tokenFingerprint(sent))
    if (Option.isNone(found)) return null
    const { id, name, role, only } = found.value
    const rate = yield* counted(`token:${id}`, rates.token, again)
    if (only !== null) return yield* onlyReads
    const actor: Actor = { kind: "token", id, name, role, from, requestId: request.id }
    return { actor, rate, session: null } satisfies Identified
  })

  const bySession = Effect.fnUntraced(function* (
    request: Request,
    again: boolean,
    secret: string,
    from: string | null,
  ) {
    const find = again ? sessions.peek : sessions.find
    const fingerprint = secretFingerprint("session", secret)
    const found = fingerprint === null ? Option.none() : yield* find(fingerprint)
    if (Option.isNone(found)) return null
    const session = found.value
    if (!changesNothing(request.method) && !isSameOrigin(request, baseUrl)) return yield* foreignPage
    const rate = yield* counted(`session:${session.id}`, rates.session, again)
    const { personId: id, personName: name, role } = session
    const actor: Actor = { kind: "person", id, name, role, from, requestId: request.id }
    return { actor, rate, session } satisfies Identified
  })

  const result: Identify = Effect.fnUntraced(function* (request, again = false) {
    const from = clientAddress(request, trustedProxies)
    const authorization = bearerOf(request.headers)
    // A token says by itself that its sender means this cabinet; another one may be for whoever stands before it.
    const isToken = authorization !== undefined && /^bearer +dc/i.test(authorization)
    const { person, handled } = isToken ? { person: null, handled: false } : yield* external(request)
    if (person !== null) {
      if (!changesNothing(request.method) && !isSameOrigin(request, baseUrl)) return yield* foreignPage
      const rate = yield* counted(`person:${person.id}`, rates.session, again)
      const { id, name, role } = person
      return { actor: { kind: "person", id, name, role, from, requestId: request.id }, rate, session: null }
    }
    const secret = handled || authorization !== undefined ? null : cookie.read(request.headers)
    if (handled || (authorization === undefined && secret === null)) return yield* none
    const now = yield* Clock.currentTimeMillis
    const retryAfter = refused.retryAfter(from, now)
    if (retryAfter !== null) return yield* tooManyWrong(retryAfter)
    const identified: Identified | null =
      authorization === undefined
        ? yield* bySession(request, again, secret!, from)
        : yield* byToken(request, again, authorization, from)
    if (identified === null) {
      refused.count(from, now)
      return yield* wrong
    }
    return identified
  })
  return result
})
