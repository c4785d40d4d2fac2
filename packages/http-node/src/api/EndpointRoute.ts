/**
 * The frame around every keyed endpoint. It fixes the order of checks: method, key (401), rate (429), form of the path,
 * unknown parameters; only then does the endpoint run. A request with a valid key gets the two rate headers on its response,
 * whatever the response is.
 */
import { type TimerWheel, timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Authenticate } from "@data-cabinet/core/key/Authenticate"
import type { KeyRateLimit } from "@data-cabinet/core/limit/RateLimiter"
import { Cause, type Context, Effect, type Scope } from "effect"
import { effectRunner } from "../server/EffectRunner.ts"
import type { Response } from "../server/Request.ts"
import type { Route, Target } from "../server/Route.ts"
import { type ApiError, errorResponse } from "./ApiError.ts"
import { withRateHeaders, keyHeaders, rateHeaders } from "./WithRateHeaders.ts"
import type { Endpoint } from "./Endpoint.ts"
import { ERROR_STATUS } from "./ErrorStatus.ts"
import { faultError, logFault } from "./Fault.ts"
import { decodeSegment, queryPairs } from "./QueryPairs.ts"

/** A request that passed the frame: its path decoded, its parameters in the order sent, all of them known. */
export interface Call {
  readonly path: ReadonlyArray<string>
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
}

/** JSON, as text or already in UTF-8. The bytes end with a newline; text gets its newline here. */
type Body = string | Uint8Array

/** The endpoint's own work: returns the response's body or an error. */
export type Respond = (call: Call) => Effect.Effect<Body, ApiError | StoreUnavailable>

interface Options {
  /** A deadline other than the usual one, in milliseconds. */
  readonly deadline?: number
}

/**
 * From a request's head to its response, in milliseconds; after it the database counts as unavailable. No client waits 10 s.
 */
export const DEADLINE = 9_000

const RETRY_SECONDS = 5

export const endpointRoute = (
  endpoint: Endpoint,
  respond: Respond,
  { deadline = DEADLINE }: Options = {},
): Effect.Effect<Route, never, Authenticate | Scope.Scope> =>
  Effect.gen(function* () {
    const authenticate = yield* Authenticate
    const ends = yield* timerWheel
    const counted = yield* withRateHeaders
    const run = yield* effectRunner
    const known = endpoint.query === "any" ? undefined : new Set(endpoint.query.map(({ name }) => name))

    const respondTo = (target: Target, began: number): Effect.Effect<Body, ApiError | StoreUnavailable> => {
      const path: Array<string> = []
      for (const [i, parameter] of endpoint.pathParameters.entries()) {
        const value = decodeSegment(target.params[i]!)
        const refusal = parameter.refuse(value)
        if (refusal !== undefined) return Effect.fail(refusal)
        path.push(value!)
      }
      const query = queryPairs(target.query)
      if (known !== undefined) {
        const stranger = query.find(([name]) => !known.has(name))
        if (stranger !== undefined) return Effect.fail(unknownParam(stranger[0], known))
      }
      return timed(ends, respond({ path, query }), began + deadline)
    }

    const admitted = (admission: KeyRateLimit, target: Target, began: number): Effect.Effect<Response> => {
      const headers = rateHeaders(admission)
      if (!admission.allowed) return Effect.succeed(errorResponse(rateLimited(admission), headers))
      return Effect.matchCauseEffect(respondTo(target, began), {
        onSuccess: (body) => Effect.succeed(jsonResponse(body, headers)),
        onFailure: (cause) => failed(endpoint, cause, headers),
      })
    }

    return {
      path: endpoint.path,
      fault: (id) => errorResponse(faultError(id)),
      handle: (request, target) => {
        if (request.method !== "GET" && request.method !== "HEAD")
          return run(request, counted(request, methodNotAllowed))
        const key = authenticate.key(keyHeaders(request), DEADLINE)
        const work = Effect.clockWith((clock) => {
          const began = clock.currentTimeMillisUnsafe()
          return Effect.matchEffect(key, {
            onSuccess: (admission) => admitted(admission, target, began),
            onFailure: (error) => Effect.succeed(errorResponse(apiError(error))),
          })
        })
        return run(request, work)
      },
    }
  })

/** The response to any method other than GET and HEAD. */
export const methodNotAllowed = errorResponse(
  { code: "method_not_allowed", message: "The API supports only GET and HEAD." },
  { allow: "GET" },
)

const jsonResponse = (body: Body, headers: Readonly<Record<string, string>>): Response => ({
  status: 200,
  headers: {
    ...headers,
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  },
  body: typeof body === "string" ? `${body}\n` : body,
})

const unavailable: ApiError = {
  code: "reader_off",
  message: "The database did not respond in time. Try again.",
  retryAfter: RETRY_SECONDS,
}

/** Work that is abandoned, without waiting for its end, at a deadline of the clock. */
const timed = <A, E>(ends: TimerWheel, work: Effect.Effect<A, E>, until: number): Effect.Effect<A, E | ApiError> =>
  Effect.clockWith((clock) =>
    ends.limit<A, E | ApiError>(until - clock.currentTimeMillisUnsafe(), Effect.fail(unavailable), work),
  )

/** Any refusal in the API's terms. Unavailability always carries a retry time, nothing else does. */
const apiError = (error: ApiError | StoreUnavailable): ApiError => {
  if (!("code" in error)) return { code: "reader_off", message: error.message, retryAfter: error.retryAfter }
  const { code, message, param = null, retryAfter } = error
  return ERROR_STATUS[code] === 503
    ? { code, message, param, retryAfter: retryAfter ?? RETRY_SECONDS }
    : { code, message, param }
}

const failed = (
  endpoint: Endpoint,
  cause: Cause.Cause<ApiError | StoreUnavailable>,
  headers: Readonly<Record<string, string>>,
): Effect.Effect<Response> => {
  const failure = cause.reasons.find((reason) => reason._tag === "Fail")
  if (failure !== undefined) return Effect.succeed(errorResponse(apiError(failure.error), headers))
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  return Effect.contextWith((context: Context.Context<never>) =>
    Effect.succeed(errorResponse(faultError(logFault(endpoint, cause, context)), headers)),
  )
}

const rateLimited = (admission: KeyRateLimit): ApiError => ({
  code: "rate_limited",
  message: `The key is limited to ${admission.limit} requests per minute; the next minute begins in ${admission.retryAfter} s.`,
  retryAfter: admission.retryAfter,
})

const unknownParam = (name: string, known: ReadonlySet<string>): ApiError => ({
  code: "unknown_param",
  message:
    known.size === 0
      ? `This endpoint has no parameters, but the request has ${JSON.stringify(name)}.`
      : `This endpoint has no parameter ${JSON.stringify(name)}. It has ${[...known].join(", ")}.`,
  param: name,
})
