/** The requests that the service itself sends: deliveries to a customer's address, described from the receiver's side. */
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { DELIVERY_EXAMPLE, PING_EXAMPLE } from "./Examples.ts"
import type { ParameterObject, PathItem } from "./OperationObject.ts"
import { ref } from "./Schemas.ts"

const header = (name: string, description: string, schema: JsonSchema, example: unknown): ParameterObject => ({
  name,
  in: "header",
  required: true,
  description,
  schema,
  example,
})

const delivery = (
  id: string,
  type: string,
  schema: JsonSchema,
  words: { readonly summary: string; readonly description: string },
  example: unknown,
): PathItem => ({
  post: {
    operationId: id,
    tags: ["Deliveries"],
    ...words,
    security: [],
    parameters: [
      header("X-Service-Event", "The body's type.", { const: type }, type),
      header(
        "X-Service-Delivery",
        "The delivery's number. The same number may arrive more than once.",
        { type: "string", pattern: "^[0-9]+$" },
        "731",
      ),
      header(
        "X-Service-Signature",
        "`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.` and the raw body, keyed with the signing secret. While a secret is being replaced there are two `v1`. Compare in constant time, and reject a `t` older than 5 minutes.",
        { type: "string", pattern: "^t=[0-9]+(,v1=[0-9a-f]{64})+$" },
        "t=1795253400,v1=6f0bd2e5f1f5c3e9a0a8c1b1e7ad9cf2a3e9d0b4c5d6e7f8091a2b3c4d5e6f70",
      ),
      header(
        "webhook-id",
        "The delivery's number, for libraries of Standard Webhooks.",
        { type: "string", pattern: "^[0-9]+$" },
        "731",
      ),
      header(
        "webhook-timestamp",
        "The time of this attempt in unix seconds.",
        { type: "string", pattern: "^[0-9]+$" },
        "1795253400",
      ),
      header(
        "webhook-signature",
        "`v1,<base64>`: the signature of Standard Webhooks, HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.` and the raw body, keyed with the bytes that the signing secret encodes in base64 after `whsec_`. While a secret is being replaced there are two, with a space between them.",
        { type: "string", pattern: "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$" },
        "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
      ),
    ],
    requestBody: { required: true, content: { "application/json": { schema, example } } },
    responses: {
      "2XX": { description: "Delivered. The response body is ignored." },
      "4XX": { description: "Not delivered: retried after 30 seconds, one minute, two minutes, up to a day." },
      "5XX": { description: "Not delivered: retried in the same way." },
    },
  },
})

export const WEBHOOKS: { readonly [name: string]: PathItem } = {
  "event.received": delivery(
    "eventReceived",
    "event.received",
    ref("EventReceived"),
    {
      summary: "A new event",
      description:
        "Sent for every new event of a source that the address is subscribed to; not for repeats, empty or deleted events, or history. Delivery is at least once: tolerate receiving the same `id` again.",
    },
    DELIVERY_EXAMPLE,
  ),
  ping: delivery(
    "ping",
    "ping",
    ref("Ping"),
    { summary: "A check of the address", description: "Sent once on request, to check whether the address responds." },
    PING_EXAMPLE,
  ),
}
