/** The API's own description: OpenAPI 3.1, generated from the declarations that guard the requests. */
import type { Endpoint } from "../api/Endpoint.ts"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { INTAKE_PATH, PROOF_PATHS } from "./IntakePath.ts"
import type { OperationObject, PathItem } from "./OperationObject.ts"
import { operation, OPTIONAL_RATE_HEADERS } from "./Operation.ts"
import { SCHEMAS } from "./Schemas.ts"
import { WEBHOOKS } from "./Webhooks.ts"

export interface OpenApiDocument {
  readonly openapi: "3.1.0"
  readonly info: {
    readonly title: string
    readonly version: "1"
    readonly description: string
    readonly [key: string]: unknown
  }
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly paths: { readonly [path: string]: PathItem }
  readonly webhooks: { readonly [name: string]: PathItem }
  readonly components: { readonly schemas: { readonly [name: string]: JsonSchema }; readonly [kind: string]: unknown }
  readonly [key: string]: unknown
}

const whole = (minimum: number) => ({ type: "integer", minimum })

const rateHeader = (description: string, required: boolean) => ({
  description,
  required,
  schema: whole(0),
  example: 119,
})

const LIMIT = "The key's request limit per minute."
const REMAINING = "The number of requests left in the current clock minute."
const KEYED = " Sent if the request had a valid key."

/** Describes the endpoints of the read API. `baseUrl` is the cabinet's address, without a trailing slash. */
export const openApiDocument = (baseUrl: string, endpoints: ReadonlyArray<Endpoint>): OpenApiDocument => ({
  openapi: "3.1.0",
  info: {
    title: "Data Cabinet",
    version: "1",
    summary: "Read a cabinet's sources, tables and events; send to its sources; receive its deliveries.",
    description:
      "The API only reads: its one other operation keeps a client's own position in the feed. Send an API key in `Authorization: Bearer <key>` or in `X-Api-Key: <key>`, never in the URL. Every response to a valid key has headers with the key's limit and the requests left in this minute. Times are RFC 3339 in UTC, numbers keep every stored digit, and unknown query parameters are refused.",
    license: { name: "MIT", identifier: "MIT" },
  },
  servers: [{ url: baseUrl, description: "This cabinet." }],
  tags: [
    { name: "Events", description: "The feed of everything that was accepted." },
    { name: "Tables", description: "Tables and views, and their rows." },
    { name: "Sources", description: "Sources and their intake addresses." },
    { name: "Description", description: "The description of the API itself." },
    { name: "Intake", description: "Where senders submit data." },
    { name: "Deliveries", description: "The requests that the service sends to a delivery address." },
  ],
  paths: {
    ...Object.fromEntries(
      endpoints.map((endpoint) => [
        endpoint.path,
        { [endpoint.method === "POST" ? "post" : "get"]: operation(endpoint) },
      ]),
    ),
    "/api/v1/docs": { get: DOCS_OPERATION },
    "/webhook/{intake_secret}": INTAKE_PATH,
    ...PROOF_PATHS,
  },
  webhooks: WEBHOOKS,
  components: {
    schemas: SCHEMAS,
    headers: {
      "X-RateLimit-Limit": rateHeader(LIMIT, true),
      "X-RateLimit-Remaining": rateHeader(REMAINING, true),
      "X-RateLimit-Limit-Keyed": rateHeader(LIMIT + KEYED, false),
      "X-RateLimit-Remaining-Keyed": rateHeader(REMAINING + KEYED, false),
      "Retry-After": {
        description: "When to retry, in seconds.",
        required: true,
        schema: whole(0),
        example: 24,
      },
      "WWW-Authenticate": {
        description: "How to authenticate.",
        required: true,
        schema: { const: "Bearer" },
        example: "Bearer",
      },
    },
    securitySchemes: {
      bearer: {
        type: "http",
        scheme: "bearer",
        description: "An API key of the cabinet, or an access token that may read.",
      },
      apiKey: { type: "apiKey", in: "header", name: "X-Api-Key", description: "The same key in a separate header." },
    },
  },
})

const DOCS_OPERATION: OperationObject = {
  operationId: "readDocs",
  tags: ["Description"],
  summary: "Redirect to the reference",
  description: "Redirects to the human-readable API reference. Requires no key.",
  security: [],
  responses: {
    "302": {
      description: "The location of the reference.",
      headers: {
        Location: {
          description: "The reference's address.",
          required: true,
          schema: { type: "string", format: "uri" },
        },
        ...OPTIONAL_RATE_HEADERS,
      },
    },
  },
}
