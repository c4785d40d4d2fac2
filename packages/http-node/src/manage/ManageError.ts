/** The one error shape of the management API, the read API's own: `{error: {type, code, message, param}}`. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { Response } from "../server/Request.ts"
import type { ManageCode } from "./ManageCode.ts"
import { MANAGE_CODES, manageType } from "./ManageRefusals.ts"
import { jsonLine } from "../parser/BadRequest.ts"

export interface ManageError {
  readonly code: ManageCode
  /** The expected input, in words. Never a value of the body, which may be a secret. */
  readonly message: string
  /** A query parameter or path segment, or a JSON pointer into the body. */
  readonly param?: string | null
  /** Whole seconds, for `Retry-After`. */
  readonly retryAfter?: number | undefined
}

export const RESPONSE_HEADERS = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const

const RETRY_SECONDS = 5

/** A port's own error has a retry time only if the database was unavailable. */
export const manageErrorOf = (error: ManageError | StoreUnavailable): ManageError =>
  "code" in error
    ? error
    : { code: "unavailable", message: error.message, param: null, retryAfter: Math.max(1, error.retryAfter) }

export const manageErrorResponse = (error: ManageError, headers: Readonly<Record<string, string>> = {}): Response => {
  const { code, message, param = null } = error
  const { status } = MANAGE_CODES[code]
  const retryAfter = error.retryAfter ?? (status === 503 ? RETRY_SECONDS : undefined)
  return {
    status,
    headers: {
      ...RESPONSE_HEADERS,
      ...headers,
      ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
      ...(retryAfter !== undefined && (status === 503 || status === 429) ? { "retry-after": String(retryAfter) } : {}),
    },
    body: jsonLine({ error: { type: manageType(code), code, message, param } }),
  }
}
