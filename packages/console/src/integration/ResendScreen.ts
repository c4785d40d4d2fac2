/** Sends the deliveries of an address again, after their number was shown. */
import type { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import type { ResendRange } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Effect } from "effect"
import { act, fieldOf, idOf } from "../screen/Act.ts"
import type { ConsoleScreen, FormCall } from "../screen/ConsoleScreen.ts"
import type { Card } from "./BodyScreens.ts"
import { utc } from "./DeliveryFilter.ts"

const rangeOf = (call: FormCall): Required<ResendRange> => ({
  addressId: idOf(call.path[0]),
  from: utc(fieldOf(call, "from")),
  to: utc(fieldOf(call, "to")),
  only: fieldOf(call, "only") === "all" ? "all" : "failed",
})

/** Counts first how many deliveries would be sent. */
export const resendScreen = (deliveries: Deliveries["Service"], card: Card): ConsoleScreen =>
  act({
    path: "/console/addresses/{id}/resend",
    action: "delivery.change",
    home: ([id]) => `addresses/${id}`,
    repeat: (call) => (fieldOf(call, "confirm") === "yes" ? "once" : "allowed"),
    respond: Effect.fnUntraced(function* (call) {
      const range = rangeOf(call)
      if (fieldOf(call, "confirm") === "yes") return yield* Effect.as(deliveries.resendRange(range), null)
      const count = yield* deliveries.countRange(range)
      return yield* card(call.frame, range.addressId, { is: "count", range, count })
    }),
  })
