/** Converts an endpoint's declaration to its part of the OpenAPI document. */
import { ERROR_MEANINGS, ERROR_TYPES, type ErrorCode } from "@data-cabinet/core/error/ErrorCode"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import type { Endpoint, HeaderParameter, PathParameter, QueryParameter } from "../api/Endpoint.ts"
import { ERROR_STATUS } from "../server/ErrorStatus.ts"
import type { OperationObject, ParameterObject, ResponseObject } from "./OperationObject.ts"
import { ref } from "./Schemas.ts"

/** The errors that the frame may return at every endpoint. */
const FRAME_ERRORS: ReadonlyArray<ErrorCode> = ["invalid_key", "rate_limited", "reader_off", "internal_error"]

const header = (name: string) => ({ $ref: `#/components/headers/${name}` })

const RATE_HEADERS = {
  "X-RateLimit-Limit": header("X-RateLimit-Limit"),
  "X-RateLimit-Remaining": header("X-RateLimit-Remaining"),
}

/** For endpoints whose pages come in several forms. */
const FORM_HEADERS: { readonly [name: string]: JsonSchema } = {
  Link: {
    description: "In a form other than JSON: the next page, relative to this one's address. Absent on the last page.",
    required: false,
    schema: { type: "string" },
    example: '<?limit=100&cursor=…>; rel="next"',
  },
}

const okHeaders = ({ forms, varies = "Accept", response }: Endpoint): { readonly [name: string]: JsonSchema } => {
  if (forms === undefined) return RATE_HEADERS
  const vary = {
    description: "The headers that the form depends on.",
    required: true,
    schema: { type: "string" },
    example: varies,
  }
  return { ...RATE_HEADERS, Vary: vary, ...(response.headers ?? FORM_HEADERS) }
}

/** Responses that may also be sent before a key is known to be valid may lack the two rate headers. */
export const OPTIONAL_RATE_HEADERS = {
  "X-RateLimit-Limit": header("X-RateLimit-Limit-Keyed"),
  "X-RateLimit-Remaining": header("X-RateLimit-Remaining-Keyed"),
}

const ERROR_HEADERS: { readonly [status: number]: { readonly [name: string]: JsonSchema } } = {
  400: OPTIONAL_RATE_HEADERS,
  401: { "WWW-Authenticate": header("WWW-Authenticate") },
  404: RATE_HEADERS,
  405: {
    Allow: { description: "POST.", required: true, schema: { const: "POST" }, example: "POST" },
    ...OPTIONAL_RATE_HEADERS,
  },
  409: RATE_HEADERS,
  429: { ...RATE_HEADERS, "Retry-After": header("Retry-After") },
  500: OPTIONAL_RATE_HEADERS,
  503: { ...OPTIONAL_RATE_HEADERS, "Retry-After": header("Retry-After") },
}

export const operation = (endpoint: Endpoint): OperationObject => ({
  operationId: endpoint.id,
  tags: [endpoint.tag],
  summary: endpoint.summary,
  description: endpoint.description,
  security: [{ bearer: [] }, { apiKey: [] }],
  parameters: [
    ...endpoint.pathParameters.map(pathParameter),
    ...(endpoint.query === "any" ? [] : endpoint.query.map(queryParameter)),
    ...(endpoint.headers ?? []).map(headerParameter),
  ],
  responses: {
    "200": {
      description: endpoint.response.description,
      headers: okHeaders(endpoint),
      content: { "application/json": { schema: endpoint.response.schema, example: endpoint.response.example } },
      // Not as content: every generated client would then have to handle both types.
      ...(endpoint.forms === undefined ? {} : { "x-forms": endpoint.forms }),
    },
    ...errorResponses(endpoint),
  },
})

const pathParameter = ({ name, description, schema, example }: PathParameter): ParameterObject => ({
  name,
  in: "path",
  required: true,
  description,
  schema,
  example,
})

const queryParameter = ({
  name,
  description,
  schema,
  required = false,
  repeats,
  example,
}: QueryParameter): ParameterObject => ({
  name,
  in: "query",
  required,
  description,
  ...(repeats === true ? { style: "form", explode: true, schema: { type: "array", items: schema } } : { schema }),
  ...(example === undefined ? {} : { example }),
})

const headerParameter = ({ name, description, schema, example }: HeaderParameter): ParameterObject => ({
  name,
  in: "header",
  required: false,
  description,
  schema,
  example,
})

const errorResponses = (endpoint: Endpoint): OperationObject["responses"] => {
  const own: ReadonlyArray<ErrorCode> = endpoint.query === "any" ? [] : ["unknown_param", "bad_request"]
  const codes = new Set([...own, ...endpoint.errors, ...FRAME_ERRORS])
  const byStatus = Map.groupBy(codes, (code) => ERROR_STATUS[code])
  return Object.fromEntries([...byStatus].map(([status, its]) => [String(status), errorResponse(status, its)]))
}

const errorResponse = (status: number, codes: ReadonlyArray<ErrorCode>): ResponseObject => ({
  description: codes.map((code) => `\`${code}\`: ${ERROR_MEANINGS[code]}`).join("\n\n"),
  headers: ERROR_HEADERS[status] ?? {},
  content: {
    "application/json": {
      schema: ref("Error"),
      examples: Object.fromEntries(codes.map((code) => [code, { summary: ERROR_MEANINGS[code], value: sample(code) }])),
    },
  },
})

/** An example of an error; the message of a real one says more about the request. */
const sample = (code: ErrorCode) => ({
  error: { type: ERROR_TYPES[code], code, message: ERROR_MEANINGS[code], param: SAMPLE_PARAM[code] ?? null },
})

const SAMPLE_PARAM: { readonly [code in ErrorCode]?: string } = {
  unknown_param: "page",
  bad_limit: "limit",
  bad_cursor: "cursor",
  bad_source_id: "source_id",
  bad_channel: "channel",
  bad_follower: "follower",
  too_many_followers: "follower",
  bad_filter: "fo",
  bad_fo: "fo",
  bad_fv: "fv",
  bad_dir: "dir",
  bad_period: "from",
  unknown_column: "sort",
  bad_columns: "hide",
  bad_selection: "sort",
  no_such_source: "source_id",
}
