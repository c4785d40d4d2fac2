/**
 * Identifies the sender of a management request, and counts the request against them. Missing, wrong, expired and
 * revoked credentials get one response: 401. They are looked up for every request, so that a revocation in one process
 * takes effect in all at the next request. An address that sends many wrong ones is slowed, and refused with 429 only
 * if many of them wait at once (`SecretLookups`). A `Bearer` header is always a token, whatever a proxy adds.
 * Credentials that a browser sends by itself, a cookie or a login elsewhere, may change something only from a page of
 * our own: 403. Tokens with a list of objects may only read, so they are refused: 403.
 */
import type { Actor } from "@data-cabinet/core/audit/Actor"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { bearerToken, tokenFingerprint } from "@data-cabinet/core/key/AccessToken"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { type RateLimit, RateWindows } from "@data-cabinet/core/limit/RateLimiter"
import { SecretLookups, type TooManyWrong } from "@data-cabinet/core/limit/SecretLookups"
import type { LiveSession } from "@data-cabinet/core/person/Person"
import { secretFingerprint } from "@data-cabinet/core/person/Secret"
import { Sessions } from "@data-cabinet/core/person/Sessions"
import { Context, Effect, Option } from "effect"
import { clientAddress } from "../server/ClientAddress.ts"
import { sessionCookie } from "../session/SessionCookie.ts"
import { ExternalSignIns, identifyExternal } from "../session/ExternalSignIn.ts"
import { isBearer } from "../server/CrossOrigin.ts"
import { HttpSettings } from "../server/HttpSettings.ts"
import type { Request } from "../server/Request.ts"
import { isSameOrigin } from "../server/SameOrigin.ts"
import type { ManageError } from "./ManageError.ts"

export interface Identified {
  readonly actor: Actor
  readonly rate: RateLimit
  /** Null for a token, and for a person who signs in elsewhere. */
  readonly session: LiveSession | null
}

/** Requests a minute: of each token and of each session; `wrong`: wrong credentials of an address that are looked up at once. */
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

/** Every management endpoint may show more than the token's list. */
const onlyReads = refuse("role_missing", "This token may only read its listed objects, by the read API at /api/v1.")

const tooManyWrong = ({ retryAfter }: TooManyWrong): Effect.Effect<never, ManageError> =>
  Effect.fail({
    code: "rate_limited",
    message: `Too many wrong credentials came from this address. Try again in ${retryAfter} s.`,
    retryAfter,
  })

const UNCOUNTED = { allowed: true, retryAfter: 0 } as const

const changesNothing = (method: string): boolean => method === "GET" || method === "HEAD"

/** Another scheme belongs to a proxy that requires a password; a session works behind it. */
export const bearerOf = ({ authorization }: Request["headers"]): string | undefined =>
  isBearer(authorization) ? authorization : undefined

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
  const lookups = new SecretLookups(rates.wrong)

  const counted = (key: string, limit: number, again: boolean) =>
    again ? Effect.succeed({ ...UNCOUNTED, limit, remaining: limit }) : windows.count(key, limit)

  const looked = <A>(
    from: string | null,
    fingerprint: Uint8Array,
    find: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<A>, StoreUnavailable>,
  ) => Effect.catchTag(lookups.find(from, fingerprint, find(fingerprint)), "TooManyWrong", tooManyWrong)

  const byToken = Effect.fnUntraced(function* (
    request: Request,
    again: boolean,
    authorization: string,
    from: string | null,
  ) {
    const sent = bearerToken(authorization)
    if (sent === null) return yield* wrong
    const found = yield* looked(from, tokenFingerprint(sent), tokens.find)
    if (Option.isNone(found)) return yield* wrong
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
    if (fingerprint === null) return yield* wrong
    const found = yield* looked(from, fingerprint, find)
    if (Option.isNone(found)) return yield* wrong
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
    // Pages of other origins may send this header (CORS), so it must never count as a login elsewhere.
    const isToken = authorization !== undefined
    const { person, handled } = isToken ? { person: null, handled: false } : yield* external(request)
    if (person !== null) {
      if (!changesNothing(request.method) && !isSameOrigin(request, baseUrl)) return yield* foreignPage
      const rate = yield* counted(`person:${person.id}`, rates.session, again)
      const { id, name, role } = person
      return { actor: { kind: "person", id, name, role, from, requestId: request.id }, rate, session: null }
    }
    const secret = handled || authorization !== undefined ? null : cookie.read(request.headers)
    if (handled || (authorization === undefined && secret === null)) return yield* none
    return authorization === undefined
      ? yield* bySession(request, again, secret!, from)
      : yield* byToken(request, again, authorization, from)
  })
  return result
})
