/**
 * The declaration of an API endpoint. One value both guards the requests (which parameters exist, what a path may hold)
 * and becomes its part of the OpenAPI document, so that the two cannot part ways.
 */
import type { ErrorCode } from "@data-cabinet/core/error/ErrorCode"
import type { ApiError } from "./ApiError.ts"

/** JSON Schema 2020-12, as OpenAPI 3.1 has it. */
export type JsonSchema = { readonly [keyword: string]: unknown }

export interface QueryParameter {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
  /** May come several times; its schema is then that of one value. */
  readonly repeats?: boolean
  readonly example?: unknown
}

export interface PathParameter {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
  readonly example: unknown
  /** Why a value cannot be one; given undefined when its percent-encoding is broken. */
  readonly refuse: (value: string | undefined) => ApiError | undefined
}

export interface Endpoint {
  /** The operation's id, and so the method's name in generated clients. */
  readonly id: string
  readonly tag: "Sources" | "Tables" | "Events" | "Description"
  readonly path: `/api/v1/${string}`
  readonly summary: string
  readonly description: string
  /** In the order of the path. */
  readonly pathParameters: ReadonlyArray<PathParameter>
  /** All that the endpoint knows; `"any"` where unknown ones are let pass. */
  readonly query: ReadonlyArray<QueryParameter> | "any"
  /** What a 200 carries. */
  readonly answer: { readonly description: string; readonly schema: JsonSchema; readonly example: unknown }
  /** What it may refuse besides the frame's own refusals: key, rate, method, database away. */
  readonly errors: ReadonlyArray<ErrorCode>
}
