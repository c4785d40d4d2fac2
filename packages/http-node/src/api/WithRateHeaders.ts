/**
 * Responses that need no key, but carry the two rate headers if the request has a valid one: an unknown address, a method
 * that is not allowed, the redirect to the reference. They count like any request of the key, and are never refused over
 * its rate. Without a key, or while the database is unavailable, they are sent without the headers.
 */
import { Authenticate } from "@data-cabinet/core/key/Authenticate"
import type { RateLimit } from "@data-cabinet/core/limit/RateLimiter"
import { monotonicMillis } from "@data-cabinet/core/runtime/Deadline"
import { Clock, Effect, Result } from "effect"
import type { Response, Request } from "../server/Request.ts"

/** The two headers that may carry a request's key. */
export const keyHeaders = ({ headers }: Request) => ({
  authorization: headers["authorization"],
  xApiKey: headers["x-api-key"],
})

export const rateHeaders = ({ limit, remaining }: RateLimit) => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
})

/** The wait for the database, in milliseconds; shorter than where the database's result decides about the request. */
const RATE_TIMEOUT_MILLIS = 2_000

export const withRateHeaders = Effect.gen(function* () {
  const authenticate = yield* Authenticate
  const clock = yield* Clock.Clock
  return async (request: Request, response: Response): Promise<Response> => {
    const sent = keyHeaders(request)
    if (sent.authorization === undefined && sent.xApiKey === undefined) return response
    const counted = await authenticate.key(sent, monotonicMillis(clock) + RATE_TIMEOUT_MILLIS)
    if (Result.isFailure(counted)) return response
    return { ...response, headers: { ...response.headers, ...rateHeaders(counted.success) } }
  }
})
