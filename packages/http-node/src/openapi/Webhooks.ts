/** The requests that the service itself sends: deliveries to a customer's address, described from the receiver's side. */
import { deliveryHeaders } from "@data-cabinet/core/delivery/DeliveryShape"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { DELIVERY_EXAMPLE, PING_EXAMPLE } from "./Examples.ts"
import type { PathItem } from "./OperationObject.ts"
import { ref } from "./Schemas.ts"

const delivery = (
  id: string,
  type: "event.received" | "ping",
  schema: JsonSchema,
  words: { readonly summary: string; readonly description: string },
  example: unknown,
): PathItem => ({
  post: {
    operationId: id,
    tags: ["Deliveries"],
    ...words,
    security: [],
    parameters: deliveryHeaders(type).map((header) => ({ ...header, in: "header", required: true })),
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
