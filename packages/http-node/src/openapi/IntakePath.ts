/** The intake address in the OpenAPI document: public, outside the API's paths, with its own form of responses. */
import * as Shape from "@data-cabinet/core/json/Shape"
import type { ParameterObject, PathItem, ResponseObject } from "./OperationObject.ts"
import { ref } from "./Schemas.ts"

const fields = { type: "object", additionalProperties: true }

const CORS = {
  "Access-Control-Allow-Origin": { description: "Any origin.", required: true, schema: { const: "*" } },
}

const refusal = (
  description: string,
  example: Shape.JsonSchema,
  headers: { readonly [name: string]: Shape.JsonSchema } = {},
): ResponseObject => ({
  description,
  headers: { ...CORS, ...headers },
  content: {
    "application/json": { schema: ref("IntakeError"), example },
    "text/html": { schema: { type: "string" }, example: "<!doctype html>" },
  },
})

const SECRET: ParameterObject = {
  name: "intake_secret",
  in: "path",
  required: true,
  description: "The source's secret.",
  schema: { type: "string" },
  example: "s3cr3t",
}

const answer = (description: string, ...names: ReadonlyArray<string>): Shape.JsonSchema =>
  Shape.describedOnly(description, Object.fromEntries(names.map((name) => [name, Shape.text()]))).schema

const HANDSHAKES = [
  answer("The answer to Zoom's question.", "plainToken", "encryptedToken"),
  answer("The answer to X's question.", "response_token"),
  {
    ...Shape.describedOnly("The answer to a shop's ping, and to Amazon SNS once its subscription is confirmed.", {
      ok: Shape.leaf({ const: true }),
    }).schema,
    additionalProperties: false,
  },
]

/** The responses of every method that looks the source up. */
const LOOKED_UP = {
  "404": refusal("No source has this address, or it is switched off.", {
    ok: false,
    error: "not_found",
    detail: "There is no open source at this address.",
  }),
  "429": refusal(
    "More than 60 requests per minute to this source, or from this client's IP address.",
    { ok: false, error: "rate_limited", detail: "Retry in 24 s.", retry_after: 24 },
    { "Retry-After": { $ref: "#/components/headers/Retry-After" } },
  ),
  "500": refusal("An internal error; `detail` has the id under which it was logged.", {
    ok: false,
    error: "internal_error",
    detail: "An unexpected error, logged as 6f1c0d2e-0c7e-4a0e-9b50-1a7a4c1f9d55.",
  }),
  "503": refusal(
    "The database is unavailable. Retrying is safe: what was stored after all is marked as a repeat.",
    { ok: false, error: "unavailable", detail: "Send again in a moment." },
    { "Retry-After": { $ref: "#/components/headers/Retry-After" } },
  ),
}

export const INTAKE_PATH: PathItem = {
  post: {
    operationId: "submit",
    tags: ["Intake"],
    summary: "Submit to a source",
    description:
      "Accepts any fields, stores them as sent, and responds once they are stored. Query parameters are fields too. A JSON array of up to 100 objects is a batch, and so are up to 100 lines of JSON. A form sent by a browser gets a page or a redirect instead of JSON. Unless the source verifies what its sender signs, the secret in the URL is the only protection: keep it confidential.",
    security: [],
    parameters: [SECRET],
    requestBody: {
      required: false,
      content: {
        "application/json": {
          schema: { oneOf: [fields, { type: "array", minItems: 1, maxItems: 100, items: fields }] },
          example: { Total: 12.5, customer: "Ada" },
        },
        "application/x-ndjson": { schema: { type: "string", description: "Up to 100 lines, a JSON object each." } },
        "application/x-www-form-urlencoded": { schema: fields, example: { Total: "12.5" } },
        "multipart/form-data": { schema: fields },
      },
    },
    responses: {
      "200": {
        description:
          "Stored. A browser's form gets a thank-you page, and a provider's question about the address, if the source knows the provider, the answer to it.",
        headers: CORS,
        content: {
          "application/json": {
            schema: { oneOf: [ref("IntakeReceipt"), ref("IntakeBatchReceipt"), ...HANDSHAKES] },
            example: { ok: true, id: 10417, duplicate: false, empty: false },
          },
          "text/html": { schema: { type: "string" }, example: "<!doctype html>" },
          "text/plain": { schema: { type: "string", maxLength: 1024 }, example: "3eZbrw1aBm2rZgRNFdxV" },
        },
      },
      "303": {
        description: "Stored; a browser's form is redirected to the source's thank-you page.",
        headers: {
          ...CORS,
          Location: { description: "That page.", required: true, schema: { type: "string", format: "uri" } },
        },
      },
      "400": refusal(
        "The body is neither an object nor a list of objects. It is kept as text in an empty event, which is not delivered; fields of the query string stay in the event.",
        {
          ok: false,
          error: "bad_json",
          detail: "Expected a value at line 1, column 9.",
          id: 10417,
          empty: true,
        },
      ),
      "401": refusal(
        "The source verifies its sender, who has not signed this request. Nothing was saved.",
        { ok: false, error: "bad_signature", detail: "The signature does not match; nothing was saved" },
        { "WWW-Authenticate": { description: "Signature.", required: true, schema: { const: "Signature" } } },
      ),
      ...LOOKED_UP,
      "405": refusal(
        "Only POST is allowed.",
        { ok: false, error: "method_not_allowed", detail: "Send with POST." },
        { Allow: { description: "POST.", required: true, schema: { const: "POST" } } },
      ),
      "408": refusal("The body did not arrive in time.", {
        ok: false,
        error: "timeout",
        detail: "The body did not arrive in time.",
      }),
      "413": refusal("More than 1 MB, or more than 100 objects in a batch.", {
        ok: false,
        error: "too_large",
        detail: "The body is larger than 1 MB.",
        limit: 1_048_576,
      }),
      "415": refusal(
        "The body's Content-Encoding is unknown: neither gzip, deflate, br, zstd nor a word for no compression.",
        {
          ok: false,
          error: "unsupported_encoding",
          detail: "Send the body plain, or with gzip, deflate, br or zstd.",
        },
      ),
      "431": refusal("The URL and the headers together are too large.", {
        ok: false,
        error: "bad_request",
        detail: "A request's line and headers together may have at most 98304 bytes, and 2000 headers.",
      }),
    },
  },
  options: {
    operationId: "mayScriptSubmit",
    tags: ["Intake"],
    summary: "CORS preflight, and CloudEvents' request for permission",
    description:
      "A browser's request before a script of another site submits: any origin may, without credentials. Whether the source exists is checked only with `WebHook-Request-Origin`, which also counts in the rates.",
    security: [],
    parameters: [SECRET],
    responses: {
      "204": {
        description: "Allowed.",
        headers: {
          ...CORS,
          "Access-Control-Allow-Methods": { description: "POST.", required: true, schema: { const: "POST" } },
          "Access-Control-Allow-Headers": {
            description: "The requested headers.",
            required: true,
            schema: { type: "string" },
          },
          "WebHook-Allowed-Origin": { description: "The requested origin.", schema: { type: "string" } },
          "WebHook-Allowed-Rate": {
            description: "The source's own rate, in requests per minute; `*` without one.",
            schema: { type: "string", pattern: "^(?:\\*|[1-9][0-9]*)$" },
          },
        },
      },
      ...LOOKED_UP,
    },
  },
}

const CHALLENGE = Shape.describedOnly("A challenge in the format of ALTCHA's protocol 2.", {
  parameters: Shape.leaf({
    type: "object",
    description: "What the browser solves, in the order in which it is signed.",
    required: ["algorithm", "cost", "expiresAt", "keyLength", "keyPrefix", "nonce", "salt"],
    properties: {
      algorithm: { type: "string", example: "SHA-256" },
      cost: { type: "integer", example: 1 },
      expiresAt: { type: "integer", example: 1_795_946_400 },
      keyLength: { type: "integer", example: 32 },
      keyPrefix: { type: "string", example: "0000" },
      nonce: { type: "string", description: "In hexadecimal, like the salt." },
      salt: { type: "string" },
    },
  }),
  signature: Shape.text("Of the parameters, by the key of the source."),
}).schema

/** What the page of a form fetches. */
export const PROOF_PATHS: { readonly [path: string]: PathItem } = {
  "/webhook/{intake_secret}/challenge": {
    get: {
      operationId: "formChallenge",
      tags: ["Intake"],
      summary: "A challenge for a form",
      description:
        "A new ALTCHA challenge, if the source demands such a proof of a person. Its solution is the field `altcha`.",
      security: [],
      parameters: [SECRET],
      responses: {
        "200": { description: "A challenge.", headers: CORS, content: { "application/json": { schema: CHALLENGE } } },
        ...LOOKED_UP,
      },
    },
  },
  "/webhook/{intake_secret}/proof.js": {
    get: {
      operationId: "formScript",
      tags: ["Intake"],
      summary: "The script of a form",
      description: "A script for the page with a form: it solves the challenge and adds the solution to the form.",
      security: [],
      parameters: [SECRET],
      responses: {
        "200": {
          description: "The script.",
          headers: CORS,
          content: { "text/javascript": { schema: { type: "string" }, example: "(() => {})()" } },
        },
        "405": refusal(
          "Only GET is allowed.",
          { ok: false, error: "method_not_allowed", detail: "Read this URL with GET" },
          { Allow: { description: "GET.", required: true, schema: { const: "GET" } } },
        ),
        "500": LOOKED_UP["500"],
      },
    },
  },
}
