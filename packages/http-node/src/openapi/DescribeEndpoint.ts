/** The declaration of `openapi.json`: it never responds with 400, regardless of parameters. */
import type { Endpoint } from "../api/Endpoint.ts"

export const describe: Endpoint = {
  id: "describeApi",
  tag: "Description",
  path: "/api/v1/openapi.json",
  summary: "This description",
  description:
    "The OpenAPI 3.1 description of the API. Deliveries, pages of events and submissions have an example for each of the first 50 sources that the key may read and that sent something, with the names of its fields and made-up values.",
  pathParameters: [],
  query: "any",
  response: {
    description: "The document.",
    schema: {
      type: "object",
      required: ["openapi", "info", "paths"],
      properties: { openapi: { type: "string" }, info: { type: "object" }, paths: { type: "object" } },
      additionalProperties: true,
    },
    example: { openapi: "3.1.0", info: { title: "Data Cabinet", version: "1" }, paths: {} },
  },
  errors: [],
}
