/** How the API's paths name a table or view: by schema and name, percent-encoded. */
import { ERROR_MEANINGS } from "@data-cabinet/core/error/ErrorCode"
import type { ApiError } from "../server/ApiError.ts"
import type { PathParameter } from "../api/Endpoint.ts"

export const NO_SUCH_TABLE: ApiError = {
  code: "no_such_table",
  message: ERROR_MEANINGS.no_such_table,
}

// A name that cannot be valid is treated as an unknown table: the contract has no other error for it.
const refuse = (value: string | undefined): ApiError | undefined =>
  value === undefined || value.includes("\0") ? NO_SUCH_TABLE : undefined

export const TABLE_PATH: ReadonlyArray<PathParameter> = [
  {
    name: "schema",
    description: "The object's schema: `sources`, `public` or another.",
    schema: { type: "string", minLength: 1 },
    example: "sources",
    refuse,
  },
  {
    name: "name",
    description: "The object's name in its schema.",
    schema: { type: "string", minLength: 1 },
    example: "orders",
    refuse,
  },
]
