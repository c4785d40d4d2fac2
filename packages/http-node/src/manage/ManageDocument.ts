/** The description of the management API: OpenAPI 3.1, from the declarations that guard its requests. */
import { Schema } from "effect"
import type { Components, JsonSchema } from "@data-cabinet/core/json/Shape"
import type { QueryParameter } from "../api/Endpoint.ts"
import type { OpenApiDocument } from "../openapi/OpenApiDocument.ts"
import type { OperationObject, ParameterObject, PathItem, ResponseObject } from "../openapi/OperationObject.ts"
import { ROLE_NEEDED } from "@data-cabinet/core/key/Role"
import { type ManageEndpoint, TAGS } from "./ManageEndpoint.ts"
import { HEADER, REPLAY_HEADER } from "./Once.ts"
import * as Shape from "@data-cabinet/core/json/Shape"
import { SCHEMAS } from "../openapi/Schemas.ts"
import type { ManageCode } from "./ManageCode.ts"
import { MANAGE_CODES, manageType, MANAGE_TYPES } from "./ManageRefusals.ts"

/** The form of every error. */
const errorShape = Shape.named(
  "Error",
  Shape.describedOnly("The form of every error.", {
    error: Shape.describedOnly("What is wrong.", {
      type: Shape.oneOf(MANAGE_TYPES),
      code: Shape.oneOf(Object.keys(MANAGE_CODES)),
      message: Shape.text("What was expected, in words."),
      param: Shape.orNull(Shape.text("The query parameter or path segment, or a JSON pointer into the body.")),
    }),
  }),
)

/** Schemas by name; those of responses come from their endpoints. */
const COMMON_SCHEMAS: Shape.Components = { ...SCHEMAS, ...errorShape.components }

/** The errors that the frame may return everywhere. `bad_request` is what Node's own parser refuses. */
const FRAME: ReadonlyArray<ManageCode> = [
  "bad_request",
  "unknown_param",
  "unauthorized",
  "role_missing",
  "rate_limited",
  "unavailable",
  "internal_error",
]
const BODY: ReadonlyArray<ManageCode> = ["bad_json", "bad_body", "unknown_field", "too_large", "unsupported_media_type"]

const ONCE: ReadonlyArray<ManageCode> = [
  "bad_idempotency_key",
  "idempotency_mismatch",
  "in_progress",
  "outcome_unknown",
]

const header = (name: string) => ({ $ref: `#/components/headers/${name}` })
const RATE = {
  "X-RateLimit-Limit": header("X-RateLimit-Limit"),
  "X-RateLimit-Remaining": header("X-RateLimit-Remaining"),
}

const codesOf = ({ segments, parameters, body, once, errors, method }: ManageEndpoint): ReadonlySet<ManageCode> =>
  new Set([
    ...FRAME,
    ...(method === "GET" ? [] : (["cross_origin"] as const)),
    ...(segments.length === 0 ? [] : (["bad_id"] as const)),
    ...(parameters.length === 0 ? [] : (["bad_param"] as const)),
    ...(body === null ? [] : BODY),
    ...(once === null ? [] : ONCE),
    ...errors,
  ])

const errorResponse = (status: number, codes: ReadonlyArray<ManageCode>): ResponseObject => ({
  description: codes.map((code) => `\`${code}\`: ${MANAGE_CODES[code].meaning}`).join("\n\n"),
  headers: {
    ...(status === 401 ? { "WWW-Authenticate": header("WWW-Authenticate") } : {}),
    ...(status === 429 || status === 503 ? { "Retry-After": header("Retry-After") } : {}),
  },
  content: {
    "application/json": {
      schema: errorShape.schema,
      examples: Object.fromEntries(
        codes.map((code) => {
          const { meaning } = MANAGE_CODES[code]
          const value = { error: { type: manageType(code), code, message: meaning, param: null } }
          return [code, { summary: meaning, value }]
        }),
      ),
    },
  },
})

const parameterObject = (
  { name, description, schema, repeats, example }: QueryParameter,
  required: boolean,
): ParameterObject => ({
  name,
  in: "query",
  required,
  description,
  ...(repeats === true ? { style: "form", explode: true, schema: { type: "array", items: schema } } : { schema }),
  ...(example === undefined ? {} : { example }),
})

const IDEMPOTENCY_KEY: ParameterObject = {
  name: HEADER,
  in: "header",
  required: false,
  description:
    "Chosen by the client, such as a UUID: within 24 hours a repeat of the request with the same key does nothing, and gets the first response without its secrets.",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
  example: "0b9a3c1e-6d1f-4a53-9b57-2f6d1f6f1a10",
}

const successOf = (
  { description, schema, contentType = "application/json" }: ManageEndpoint["response"],
  headers: ResponseObject["headers"],
): ResponseObject => ({
  description,
  headers: { ...RATE, ...headers },
  ...(schema === null ? {} : { content: { [contentType.split(";")[0]!]: { schema } } }),
})

const successesOf = ({ response, once }: ManageEndpoint): Readonly<Record<string, ResponseObject>> => {
  const replay = once === null ? {} : { [REPLAY_HEADER]: header(REPLAY_HEADER) }
  if (once?.replay === undefined) return { [response.status]: successOf(response, replay) }
  const { description, ...replayed } = once.replay
  return {
    [response.status]: successOf(response, {}),
    [replayed.status]: successOf(
      { ...replayed, description: `${description} A repeat with the same ${HEADER}: without secrets.` },
      replay,
    ),
  }
}

/** The schema of a body, whose unknown fields are refused. */
const bodySchema = (schema: Schema.Codec<unknown, unknown>): JsonSchema =>
  Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" }).schema

const operationOf = (endpoint: ManageEndpoint): OperationObject => {
  const { id, tag, summary, description, action, segments, parameters, readApiParameters = [], body, once } = endpoint
  const needed = ROLE_NEEDED[action]
  const role = needed === "any" ? "Any role." : `Needs the role \`${needed}\`.`
  const errors = Map.groupBy(codesOf(endpoint), (code) => MANAGE_CODES[code].status)
  return {
    operationId: id,
    "x-action": action,
    tags: [tag],
    summary,
    description: `${description}\n\n${role}`,
    security: [{ token: [] }],
    parameters: [
      ...segments.map(({ name, description: about, schema, example }): ParameterObject => ({
        name,
        in: "path",
        required: true,
        description: about,
        schema,
        example,
      })),
      ...parameters.map((parameter) => parameterObject(parameter, parameter.required === true)),
      ...readApiParameters.map((parameter) => parameterObject(parameter, false)),
      ...(once === null ? [] : [IDEMPOTENCY_KEY]),
    ],
    ...(body === null
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: bodySchema(body) } } } }),
    responses: {
      ...successesOf(endpoint),
      ...Object.fromEntries([...errors].map(([status, codes]) => [String(status), errorResponse(status, codes)])),
    },
  }
}

/** The named schemas that these values refer to, directly or through others, by name. */
const componentsOf = (from: unknown, all: Components): Components => {
  const names = new Set<string>()
  const visit = (value: unknown): void => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (names.has(name!)) continue
      names.add(name!)
      visit(all[name!])
    }
  }
  visit(from)
  return Object.fromEntries([...names].toSorted().map((name) => [name, all[name]!]))
}

/** The components of all responses. */
const declaredBy = (endpoints: ReadonlyArray<ManageEndpoint>): Components =>
  Object.fromEntries(
    endpoints.flatMap(({ response, once }) =>
      [response, once?.replay].flatMap((described) => Object.entries(described?.components ?? {})),
    ),
  )

const rateHeader = (description: string) => ({ description, required: true, schema: { type: "integer", minimum: 0 } })

/** `baseUrl` is the cabinet's address, without a trailing slash. */
export const manageDocument = (baseUrl: string, endpoints: ReadonlyArray<ManageEndpoint>): OpenApiDocument => {
  const paths: Record<string, PathItem> = {}
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operationOf(endpoint) }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Data Cabinet management",
      version: "1",
      summary: "Manage a cabinet: its sources, keys, delivery addresses, files and polls.",
      description:
        "Send an access token in `Authorization: Bearer <token>`. Its role decides its rights. Bodies are JSON in UTF-8; unknown fields and parameters are refused. Every response to valid credentials says how many requests are left in this minute. Times are RFC 3339 in UTC.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: baseUrl, description: "This cabinet." }],
    tags: Object.entries(TAGS)
      .filter(([name]) => endpoints.some(({ tag }) => tag === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    webhooks: {},
    components: {
      schemas: componentsOf(paths, { ...COMMON_SCHEMAS, ...declaredBy(endpoints) }),
      headers: {
        "X-RateLimit-Limit": rateHeader("How many requests a minute are allowed."),
        "X-RateLimit-Remaining": rateHeader("The number of requests left in the current clock minute."),
        "Retry-After": rateHeader("When to retry, in seconds."),
        [REPLAY_HEADER]: {
          description: "The request was done before under its idempotency key.",
          required: false,
          schema: { const: "true" },
        },
        "WWW-Authenticate": { description: "How to authenticate.", required: true, schema: { const: "Bearer" } },
      },
      securitySchemes: { token: { type: "http", scheme: "bearer", description: "An access token." } },
    },
  }
}
