/** The description of a delivery, from the receiver's side: the headers and the bodies of kind `standard`. */
import * as Shape from "../json/Shape.ts"
import { sourceRefShape } from "../row/Table.ts"
import type { Letter } from "./Letter.ts"

/** A header of every delivery. */
export interface DeliveryHeader {
  readonly name: string
  readonly description: string
  readonly schema: Shape.JsonSchema
  readonly example: string
}

const DIGITS = { type: "string", pattern: "^[0-9]+$" }

/** The headers of deliveries of this type. */
export const deliveryHeaders = (type: Letter["type"]): ReadonlyArray<DeliveryHeader> => [
  { name: "X-Service-Event", description: "The body's type.", schema: { const: type }, example: type },
  {
    name: "X-Service-Delivery",
    description: "The delivery's number. The same number may arrive more than once.",
    schema: DIGITS,
    example: "731",
  },
  {
    name: "X-Service-Signature",
    description:
      "`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.` and the raw body, keyed with the signing secret. While a secret is being replaced there are two `v1`. Compare in constant time, and reject a `t` older than 5 minutes.",
    schema: { type: "string", pattern: "^t=[0-9]+(,v1=[0-9a-f]{64})+$" },
    example: "t=1795253400,v1=6f0bd2e5f1f5c3e9a0a8c1b1e7ad9cf2a3e9d0b4c5d6e7f8091a2b3c4d5e6f70",
  },
  {
    name: "webhook-id",
    description: "The delivery's number, for libraries of Standard Webhooks.",
    schema: DIGITS,
    example: "731",
  },
  {
    name: "webhook-timestamp",
    description: "The time of this attempt in unix seconds.",
    schema: DIGITS,
    example: "1795253400",
  },
  {
    name: "webhook-signature",
    description:
      "`v1,<base64>`: the signature of Standard Webhooks, HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.` and the raw body, keyed with the bytes that the signing secret encodes in base64 after `whsec_`. While a secret is being replaced there are two, with a space between them.",
    schema: { type: "string", pattern: "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$" },
    example: "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  },
]

const body = (type: Letter["type"], about: string, more: { readonly [name: string]: Shape.Shape<never> }) =>
  Shape.describedOnly(about, {
    id: Shape.id("The delivery's number. The same number may arrive more than once.", 731),
    type: Shape.leaf({ const: type }),
    created_at: Shape.time("When the delivery was created."),
    ...more,
  }).schema

/** The body with a new event, whose schema is `event`. */
export const receivedSchema = (event: Shape.JsonSchema): Shape.JsonSchema =>
  body("event.received", "The body of a delivery: a new event.", { source: sourceRefShape, data: Shape.leaf(event) })

/** The body of a batch, each of whose items has the schema `received`. */
export const batchSchema = (received: Shape.JsonSchema): Shape.JsonSchema =>
  body("events.received", "The body of a delivery in batches. Its number is that of its last event.", {
    events: Shape.list(Shape.leaf(received)),
  })

/** The body of a ping. */
export const PING_SCHEMA = body("ping", "The body that checks whether a delivery address responds.", {})
