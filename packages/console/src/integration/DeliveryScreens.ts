/** The screen of a delivery, which is also shown beside the list, and its acts. */
import { AddressStore } from "@data-cabinet/core/delivery/AddressStore"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { consolePath } from "../html/Shell.ts"
import { act, fieldOf, idOf } from "../screen/Act.ts"
import { type ConsoleScreen, type FormCall, type Repeat, wantsFragment } from "../screen/ConsoleScreen.ts"
import { deliveryLists } from "../table/ListBehind.ts"
import { valueOf } from "../screen/SelectionLinks.ts"
import { DELIVERY_TABS } from "./DeliveryDetail.ts"
import { deliveryPanel, deliveryScreen } from "./DeliveryScreen.ts"

const placeOf = (call: FormCall, id: number, eventId: number | null): string => {
  const from = fieldOf(call, "from")
  const list = deliveryLists.in(call.form)
  if (from === "panel") return list
  return from === "event" ? `events/${eventId}` : deliveryLists.within(`deliveries/${id}`, list)
}

export const deliveryScreens = Effect.gen(function* () {
  const addresses = yield* AddressStore
  const deliveries = yield* Deliveries
  const { timeZone } = yield* ConsoleSettings
  const path = "/console/deliveries/{id}" as const
  const home = ([id]: ReadonlyArray<string>) => `deliveries/${id}`
  const acting = (name: string, work: (id: number) => ReturnType<(typeof deliveries)["resend"]>, repeat: Repeat) =>
    act({
      path: `${path}/${name}`,
      action: "delivery.change",
      home,
      repeat,
      respond: (call) =>
        Effect.map(work(idOf(call.path[0])), ({ id, eventId }) => ({
          location: consolePath(call.frame, placeOf(call, id, eventId)),
        })),
    })
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path,
      action: "delivery.read",
      get: Effect.fnUntraced(function* (call) {
        const {
          frame,
          path: [id],
          pairs,
        } = call
        const delivery = yield* deliveries.find(idOf(id))
        const tab = DELIVERY_TABS.find((one) => one === valueOf(pairs, "tab")) ?? "response"
        const attempts = yield* deliveries.attemptsOf(delivery.id)
        const [address = null] = yield* addresses.some([delivery.addressId])
        const request =
          tab === "request"
            ? yield* Effect.catchTag(deliveries.requestOf(delivery), "AddressError", () => Effect.succeed(null))
            : null
        const data = { delivery, address, attempts, tab, request, list: deliveryLists.in(pairs), timeZone }
        return wantsFragment(call)
          ? { fragment: deliveryPanel(frame, data).text }
          : { screen: deliveryScreen(frame, data) }
      }),
    },
    acting("resend", deliveries.resend, "once"),
    acting("cancel", deliveries.cancel, "allowed"),
  ]
  return screens
})
