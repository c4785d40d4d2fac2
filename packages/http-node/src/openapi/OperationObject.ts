/** The parts of an OpenAPI document that are written here and read back for the reference page. */
import type { JsonSchema } from "@data-cabinet/core/json/Shape"

export interface MediaTypes {
  readonly [type: string]: {
    readonly schema: JsonSchema
    readonly example?: unknown
    readonly examples?: { readonly [name: string]: { readonly summary: string; readonly value: unknown } }
  }
}

export interface ResponseObject {
  readonly description: string
  readonly headers?: { readonly [name: string]: JsonSchema }
  readonly content?: MediaTypes
  /** Other types of the same response, for clients that name one. */
  readonly "x-forms"?: ReadonlyArray<string>
}

export interface ParameterObject {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required: boolean
  readonly description: string
  readonly schema: JsonSchema
  readonly [key: string]: unknown
}

export interface OperationObject {
  readonly operationId: string
  /** In the management API: the action whose role it needs. */
  readonly "x-action"?: string
  readonly tags: readonly [string]
  readonly summary: string
  readonly description: string
  /** Schemes of which one is sufficient; none for a public operation. */
  readonly security: ReadonlyArray<{ readonly [scheme: string]: ReadonlyArray<string> }>
  readonly parameters?: ReadonlyArray<ParameterObject>
  readonly requestBody?: { readonly required: boolean; readonly content: MediaTypes }
  readonly responses: { readonly [status: string]: ResponseObject }
}

export interface PathItem {
  readonly [method: string]: OperationObject
}
