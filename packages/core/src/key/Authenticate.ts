/**
 * Authenticates a request of the read API by its headers and counts it against its key, or against an access token
 * whose role may read. Refuses a request with no key, no live key, or two different keys; reveals no more about which
 * of these applied than the client knows already.
 */
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { RateLimiter, type RateLimit } from "../limit/RateLimiter.ts"
import { type Deadline, monotonicMillis } from "../runtime/Deadline.ts"
import { isToken, tokenFingerprint } from "./AccessToken.ts"
import { keyFingerprint } from "./ApiKey.ts"
import { RecentReaders } from "./RecentReaders.ts"
import type { ReadScopeOrAll } from "./ReadScope.ts"
import { mayDo, type Role } from "./Role.ts"

/** The rate of a token after a request, with its role and scope. */
export interface ReaderTokenLimit extends RateLimit {
  readonly role: Role
  readonly scope: ReadScopeOrAll
}

/** Finds the access tokens that are sent to the read API, and counts their requests, as `RateLimiter` does for keys. */
export class ReaderTokenStore extends Context.Service<
  ReaderTokenStore,
  {
    /**
     * Counts a request of the token with this fingerprint; null if no live token has it. Fails at the deadline. Its list is read
     * each time, with the names that objects have now.
     */
    readonly count: (
      fingerprint: Uint8Array,
      deadline: Deadline,
    ) => Promise<Result.Result<ReaderTokenLimit | null, StoreUnavailable>>
  }
>()("@data-cabinet/core/key/ReaderTokenStore") {}

/** What a valid token may do and read. */
export interface LiveToken {
  readonly role: Role
  readonly scope: ReadScopeOrAll
}

/** Looks keys and tokens of requests in progress up once more, without counting a request. Both fail at the deadline. */
export class LiveKeyStore extends Context.Service<
  LiveKeyStore,
  {
    /** Whether a live key has this fingerprint. */
    readonly key: (fingerprint: Uint8Array, deadline: Deadline) => Promise<Result.Result<boolean, StoreUnavailable>>
    /** Null if no live token has it. Its list is read each time, with the names that objects have now. */
    readonly token: (
      fingerprint: Uint8Array,
      deadline: Deadline,
    ) => Promise<Result.Result<LiveToken | null, StoreUnavailable>>
  }
>()("@data-cabinet/core/key/LiveKeyStore") {}

/** The error for missing or wrong credentials. */
export class AuthenticateError extends Schema.TaggedError<AuthenticateError>()("AuthenticateError", {
  code: Schema.Literal("invalid_key"),
  message: Schema.String,
}) {}

/** The two headers that can contain a key, as sent; undefined if absent. */
export interface KeyHeaders {
  readonly authorization: string | undefined
  readonly xApiKey: string | undefined
}

/** The count of an authenticated request. */
export interface Admitted extends RateLimit {
  /** Absent for a key, which sees the whole cabinet. */
  readonly scope?: ReadScopeOrAll
  /** Absent for a key, which may read rows and the feed only. */
  readonly role?: Role
}

type Authenticated = Result.Result<Admitted, AuthenticateError | StoreUnavailable>

/** The sender of a request, whose key is parsed and hashed once. */
export interface Sender {
  /**
   * True if the sender's last request was admitted within the last seconds, to the whole cabinet. Work for it may
   * begin, but nothing of its result leaves before `key` has admitted this request as well.
   */
  readonly isRecent: () => boolean
  /** Fails at the deadline. */
  readonly key: (deadline: Deadline) => Promise<Authenticated>
}

/**
 * Looks up and counts in one step. An exhausted key is a success with `allowed: false`, because its response still includes
 * the counts.
 */
export class Authenticate extends Context.Service<
  Authenticate,
  {
    /** Fails at the deadline. */
    readonly key: (headers: KeyHeaders, deadline: Deadline) => Promise<Authenticated>
    readonly sender: (headers: KeyHeaders) => Sender
    /** The current scope of a request in progress; counts nothing, and fails at the deadline. */
    readonly again: (
      headers: KeyHeaders,
      deadline: Deadline,
    ) => Promise<Result.Result<ReadScopeOrAll, AuthenticateError | StoreUnavailable>>
  }
>()("@data-cabinet/core/key/Authenticate") {
  static readonly layer = Layer.effect(
    Authenticate,
    Effect.gen(function* () {
      const limiter = yield* RateLimiter
      const tokens = yield* ReaderTokenStore
      const live = yield* LiveKeyStore
      const clock = yield* Clock.Clock
      const recent = new RecentReaders()
      const byToken = async (fingerprint: Uint8Array, deadline: Deadline): Promise<Authenticated> => {
        const found = await tokens.count(fingerprint, deadline)
        if (Result.isFailure(found)) return Result.fail(found.failure)
        if (found.success === null) return wrongKey
        return mayDo(found.success.role, "row.read") ? Result.succeed(found.success) : noReader
      }
      const byKey = async (fingerprint: Uint8Array, deadline: Deadline): Promise<Authenticated> => {
        const found = await limiter.key(fingerprint, deadline)
        if (Result.isFailure(found)) return Result.fail(found.failure)
        return found.success === null ? wrongKey : Result.succeed(found.success)
      }
      const sender = (headers: KeyHeaders): Sender => {
        const sent = sentKey(headers)
        if (typeof sent !== "string") return { isRecent: () => false, key: async () => sent }
        const fingerprint = fingerprintOf(sent)
        return {
          isRecent: () => recent.has(fingerprint, monotonicMillis(clock)),
          key: async (deadline) => {
            const found = await (sent.startsWith(KEY_START) ? byKey : byToken)(fingerprint, deadline)
            recent.note(fingerprint, isAdmittedToAll(found), monotonicMillis(clock))
            return found
          },
        }
      }
      return Authenticate.of({
        key: (headers, deadline) => sender(headers).key(deadline),
        sender,
        again: async (headers, deadline) => {
          const sent = sentKey(headers)
          if (typeof sent !== "string") return sent
          if (!sent.startsWith(KEY_START)) {
            const found = await live.token(tokenFingerprint(sent), deadline)
            if (Result.isFailure(found)) return Result.fail(found.failure)
            if (found.success === null) return wrongKey
            return mayDo(found.success.role, "row.read") ? Result.succeed(found.success.scope) : noReader
          }
          const found = await live.key(keyFingerprint(sent), deadline)
          if (Result.isFailure(found)) return Result.fail(found.failure)
          return found.success ? Result.succeed(null) : wrongKey
        },
      })
    }),
  )
}

/** Identifies the key of an authenticated request; not a secret. */
export const keyName = (headers: KeyHeaders): string => {
  const sent = sentKey(headers)
  return typeof sent === "string" ? Buffer.from(keyFingerprint(sent)).toString("base64") : ""
}

/** True for a request that was admitted to the whole cabinet, within its limit. */
export const isAdmittedToAll = (found: Authenticated): boolean =>
  Result.isSuccess(found) && found.success.allowed && (found.success.scope ?? null) === null

const fingerprintOf = (sent: string): Uint8Array =>
  sent.startsWith(KEY_START) ? keyFingerprint(sent) : tokenFingerprint(sent)

const refuse = (message: string) => Result.fail(new AuthenticateError({ code: "invalid_key", message }))

const noKey = refuse("Send an API key in the header Authorization: Bearer <key>, or in X-Api-Key: <key>.")
const twoKeys = refuse("Authorization and X-Api-Key contain different keys. Send only one of them.")
const notBearer = refuse("Authorization must have the form: Bearer <key>.")
const wrongKey = refuse("The API key is wrong or was revoked.")
const noReader = refuse("This access token may not read. Send an API key, or a token of the role reader.")

// The format of writeKey. Anything else is refused without a query to the database.
const KEY_START = "dck_"
const KEY_SHAPE = /^dck_[A-Za-z0-9_-]{43}$/

const sentKey = ({ authorization, xApiKey }: KeyHeaders) => {
  const inHeader = xApiKey?.trim()
  if (authorization === undefined) {
    if (inHeader === undefined || inHeader === "") return noKey
    return isSecret(inHeader) ? inHeader : wrongKey
  }
  const bearer = /^bearer +(\S+)\s*$/i.exec(authorization)?.[1]
  if (inHeader !== undefined && inHeader !== bearer) return twoKeys
  if (bearer === undefined) return notBearer
  return isSecret(bearer) ? bearer : wrongKey
}

const isSecret = (sent: string): boolean => KEY_SHAPE.test(sent) || isToken(sent)
