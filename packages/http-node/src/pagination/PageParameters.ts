/** The two parameters of pagination. */
import { DEFAULT_LIMIT, MAX_LIMIT } from "@data-cabinet/core/pagination/Page"
import type { QueryParameter } from "../api/Endpoint.ts"

export const LIMIT_PARAMETER: Omit<QueryParameter, "name"> = {
  description: "The maximum number of items per page.",
  schema: { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
  example: 500,
}

export const CURSOR_PARAMETER: Omit<QueryParameter, "name"> = {
  description: "The `next_cursor` of the previous response, unchanged, with all other parameters the same.",
  schema: { type: "string" },
}
