/** Single deliveries over the management API. */
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { deliveryJson } from "@data-cabinet/core/delivery/DeliveryJson"
import { Effect } from "effect"
import { one } from "../manage/ManageResponses.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idSegment } from "../manage/ManageParameters.ts"

const id = idSegment("The delivery's id.")

export const manageDeliveries = Effect.gen(function* () {
  const deliveries = yield* Deliveries
  const common = {
    tag: "Deliveries",
    segments: [id],
    errors: ["no_such_delivery"],
    params: { no_such_delivery: "id" },
    response: one("DeliveryState", "The delivery."),
  } as const
  return [
    manageEndpoint({
      ...common,
      id: "getDelivery",
      method: "GET",
      path: "/manage/v1/deliveries/{id}",
      summary: "One delivery",
      description: "One delivery with its state.",
      action: "delivery.read",
      respond: ({ path: [delivery] }) => Effect.map(deliveries.find(delivery), deliveryJson),
    }),
    manageEndpoint({
      ...common,
      id: "resendDelivery",
      method: "POST",
      path: "/manage/v1/deliveries/{id}/resend",
      summary: "Send a delivery again",
      description: "It is due now, whatever its state, and its retries begin again.",
      action: "delivery.change",
      errors: ["no_such_delivery", "not_resent", "no_such_address"],
      respond: ({ path: [delivery] }) => Effect.map(deliveries.resend(delivery), deliveryJson),
    }),
    manageEndpoint({
      ...common,
      id: "cancelDelivery",
      method: "POST",
      path: "/manage/v1/deliveries/{id}/cancel",
      summary: "Stop a delivery",
      description: "No further attempt is made. One that was delivered stays delivered.",
      action: "delivery.change",
      respond: ({ path: [delivery] }) => Effect.map(deliveries.cancel(delivery), deliveryJson),
    }),
  ]
})
