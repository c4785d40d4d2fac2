/**
 * The declaration of an API endpoint. The same value guards requests (parameters, path segments) and becomes a part of
 * the OpenAPI document, so that the two cannot diverge.
 */
import type { ErrorCode } from "@data-cabinet/core/error/ErrorCode"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import type { ApiError } from "../server/ApiError.ts"
import { DEFAULT_LIMIT, MAX_LIMIT } from "@data-cabinet/core/pagination/Page"

export interface QueryParameter {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
  readonly required?: boolean
  /** May be repeated; the schema then describes one value. */
  readonly repeats?: boolean
  readonly example?: unknown
}

/** A header of the request. */
export interface HeaderParameter {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
  readonly example: unknown
}

export interface PathParameter {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
  readonly example: unknown
  /** Why a value is invalid; called with undefined when its percent-encoding is broken. */
  readonly refuse: (value: string | undefined) => ApiError | undefined
}

export interface Endpoint {
  /** Absent: GET. */
  readonly method?: "POST"
  /** The operation's id, and so the method's name in generated clients. */
  readonly id: string
  readonly tag: "Sources" | "Tables" | "Events" | "Description"
  readonly path: `/api/v1/${string}`
  readonly summary: string
  readonly description: string
  /** In the order of the path. */
  readonly pathParameters: ReadonlyArray<PathParameter>
  /** All parameters of the endpoint; `"any"` if unknown ones are let through. */
  readonly query: ReadonlyArray<QueryParameter> | "any"
  /** The headers that it reads, besides the key. */
  readonly headers?: ReadonlyArray<HeaderParameter>
  /** The content of a 200, and the headers that it may have. */
  readonly response: {
    readonly description: string
    readonly schema: JsonSchema
    readonly example: unknown
    readonly headers?: { readonly [name: string]: JsonSchema }
  }
  /** The forms of a 200 besides JSON, for clients that name one in `Accept`. */
  readonly forms?: ReadonlyArray<string>
  /** The request headers that a response varies by, besides the key; absent: `Accept`, if the endpoint has forms. */
  readonly varies?: string
  /** The errors it may return in addition to those of the frame: key, rate, method, database unavailable. */
  readonly errors: ReadonlyArray<ErrorCode>
}

/** The two parameters of pagination. */
export const LIMIT_PARAMETER: Omit<QueryParameter, "name"> = {
  description: "The maximum number of items per page.",
  schema: { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
  example: 500,
}

export const CURSOR_PARAMETER: Omit<QueryParameter, "name"> = {
  description: "The `next_cursor` of the previous response, unchanged, with all other parameters the same.",
  schema: { type: "string" },
}
