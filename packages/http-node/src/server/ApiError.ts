/** The one error shape of the read API: `{error: {type, code, message, param}}`. */
import { ERROR_TYPES, type ErrorCode } from "@data-cabinet/core/error/ErrorCode"
import { ERROR_STATUS } from "./ErrorStatus.ts"
import type { Response } from "./Request.ts"
import { jsonLine } from "../parser/BadRequest.ts"

export interface ApiError {
  readonly code: ErrorCode
  /** The expected input, in words. Never a stack, never SQL. */
  readonly message: string
  /** The offending parameter, if there is one. */
  readonly param?: string | null
  /** Whole seconds, for `Retry-After`. */
  readonly retryAfter?: number
}

/** The response for an error, with the headers that its type requires. */
export const errorResponse = (error: ApiError, headers: Readonly<Record<string, string>> = {}): Response => {
  const type = ERROR_TYPES[error.code]
  const body = { error: { type, code: error.code, message: error.message, param: error.param ?? null } }
  const all: Record<string, string> = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...headers,
  }
  if (type === "unauthorized") all["www-authenticate"] = "Bearer"
  if (error.retryAfter !== undefined) all["retry-after"] = String(error.retryAfter)
  return { status: ERROR_STATUS[error.code], headers: all, body: jsonLine(body) }
}

/** The response for an address without an endpoint. */
export const noSuchEndpoint = errorResponse({
  code: "no_such_endpoint",
  message: "Unknown endpoint. The endpoints of the API are described at /api/v1/docs.",
})
