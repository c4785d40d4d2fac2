/**
 * Authenticates a request by its headers and counts it against its key. Refuses a request with no key, no live key, or two
 * different keys; reveals nothing about which of these applied beyond what the client can see itself.
 */
import { Context, Effect, Layer, Result, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { RateLimiter, type KeyRateLimit } from "../limit/RateLimiter.ts"
import type { Deadline } from "../runtime/Deadline.ts"
import { keyFingerprint } from "./ApiKey.ts"

export class AuthenticateError extends Schema.TaggedError<AuthenticateError>()("AuthenticateError", {
  code: Schema.Literal("invalid_key"),
  message: Schema.String,
}) {}

/** The two headers that can contain a key, as sent; undefined if absent. */
export interface KeyHeaders {
  readonly authorization: string | undefined
  readonly xApiKey: string | undefined
}

type Authenticated = Result.Result<KeyRateLimit, AuthenticateError | StoreUnavailable>

/**
 * Looks up and counts in one step. An exhausted key is a success with `allowed: false`, because its response still includes
 * the counts.
 */
export class Authenticate extends Context.Service<
  Authenticate,
  {
    /** Fails at the deadline. */
    readonly key: (headers: KeyHeaders, deadline: Deadline) => Promise<Authenticated>
  }
>()("@data-cabinet/core/key/Authenticate") {
  static readonly layer = Layer.effect(
    Authenticate,
    Effect.map(RateLimiter, (limiter) =>
      Authenticate.of({
        key: async (headers, deadline) => {
          const sent = sentKey(headers)
          if (typeof sent !== "string") return sent
          const found = await limiter.key(keyFingerprint(sent), deadline)
          if (Result.isFailure(found)) return Result.fail(found.failure)
          return found.success === null ? wrongKey : Result.succeed(found.success)
        },
      }),
    ),
  )
}

const refuse = (message: string) => Result.fail(new AuthenticateError({ code: "invalid_key", message }))

const noKey = refuse("Send an API key in the header Authorization: Bearer <key>, or in X-Api-Key: <key>.")
const twoKeys = refuse("Authorization and X-Api-Key contain different keys. Send only one of them.")
const notBearer = refuse("Authorization must have the form: Bearer <key>.")
const wrongKey = refuse("The API key is wrong or was revoked.")

// The format of writeKey. Anything else is refused without a query to the database.
const KEY_SHAPE = /^dck_[A-Za-z0-9_-]{43}$/

const sentKey = ({ authorization, xApiKey }: KeyHeaders) => {
  const inHeader = xApiKey?.trim()
  if (authorization === undefined) {
    if (inHeader === undefined || inHeader === "") return noKey
    return KEY_SHAPE.test(inHeader) ? inHeader : wrongKey
  }
  const bearer = /^bearer +(\S+)\s*$/i.exec(authorization)?.[1]
  if (inHeader !== undefined && inHeader !== bearer) return twoKeys
  if (bearer === undefined) return notBearer
  return KEY_SHAPE.test(bearer) ? bearer : wrongKey
}
