/** The errors that every keyed endpoint may return. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { overLimit, type RateLimit } from "@data-cabinet/core/limit/RateLimiter"
import { type ApiError, errorResponse } from "../server/ApiError.ts"
import { ERROR_STATUS } from "../server/ErrorStatus.ts"

/** After which time a client tries again while the database is away. */
export const RETRY_SECONDS = 5

/** The response to another method than POST where only that is supported. */
export const onlyPost = errorResponse(
  { code: "method_not_allowed", message: "This endpoint supports only POST." },
  { allow: "POST" },
)

/** The response to any method other than GET and HEAD. */
export const methodNotAllowed = errorResponse(
  { code: "method_not_allowed", message: "The API supports only GET and HEAD." },
  { allow: "GET" },
)

/** Any refusal in the API's terms. Unavailability and exceeded limits always carry a retry time. */
export const apiError = (error: ApiError | StoreUnavailable): ApiError => {
  if (!("code" in error)) return { code: "reader_off", message: error.message, retryAfter: error.retryAfter }
  const { code, message, param = null, retryAfter } = error
  if (ERROR_STATUS[code] === 503) return { code, message, param, retryAfter: retryAfter ?? RETRY_SECONDS }
  return code === "rate_limited" && retryAfter !== undefined
    ? { code, message, param, retryAfter }
    : { code, message, param }
}

export const rateLimited = (rate: RateLimit): ApiError => ({
  code: "rate_limited",
  message: overLimit(rate),
  retryAfter: rate.retryAfter,
})

export const unknownParam = (name: string, known: ReadonlySet<string>): ApiError => ({
  code: "unknown_param",
  message:
    known.size === 0
      ? `This endpoint has no parameters, but the request has ${JSON.stringify(name)}.`
      : `This endpoint has no parameter ${JSON.stringify(name)}. It has ${[...known].join(", ")}.`,
  param: name,
})
