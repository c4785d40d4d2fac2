/**
 * Answers that need no key, and yet bear the two rate headers to whoever sent a valid one: an address that is none, a
 * method that is not taken, the way to the reference. They count as any request of the key does, and are never refused
 * for it; without a key, or while the database is away, they are what they are.
 */
import { Authenticate } from "@data-cabinet/core/key/Authenticate"
import type { KeyRateLimit } from "@data-cabinet/core/limit/RateLimiter"
import { Effect } from "effect"
import type { Answer, Request } from "../server/Request.ts"

/** The two headers in which a request's key may come. */
export const keyHeaders = ({ headers }: Request) => ({
  authorization: headers["authorization"],
  xApiKey: headers["x-api-key"],
})

export const rateHeaders = ({ limit, remaining }: KeyRateLimit) => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
})

/** The database is not waited for as long as where its word decides, in milliseconds. */
const RATE_TIMEOUT_MILLIS = 2_000

export const withRateHeaders = Effect.map(Authenticate, (authenticate) => (request: Request, answer: Answer) => {
  const sent = keyHeaders(request)
  if (sent.authorization === undefined && sent.xApiKey === undefined) return Effect.succeed(answer)
  return Effect.match(authenticate.key(sent, RATE_TIMEOUT_MILLIS), {
    onSuccess: (admission) => ({ ...answer, headers: { ...answer.headers, ...rateHeaders(admission) } }),
    onFailure: () => answer,
  })
})
