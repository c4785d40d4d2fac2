/** The screen of a delivery, which is also shown beside the list, and its acts. */
import { AddressStore } from "@data-cabinet/core/delivery/AddressStore"
import type { Delivery } from "@data-cabinet/core/delivery/Attempt"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { consolePath } from "../html/Shell.ts"
import { act, fieldOf, idOf } from "../screen/Act.ts"
import { type ConsoleScreen, type FormCall, type Repeat, wantsFragment } from "../screen/ConsoleScreen.ts"
import { deliveryLists } from "../table/ListBehind.ts"
import { valueOf } from "../screen/SelectionLinks.ts"
import { DELIVERY_TABS, isFailed } from "./DeliveryDetail.ts"
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
  const requestOf = (delivery: Delivery) =>
    Effect.catchTag(deliveries.requestOf(delivery), "AddressError", () => Effect.succeed(null))
  /** Searched for as long as one page of a list takes. */
  const lastWorked = Effect.fnUntraced(function* ({ addressId }: Delivery) {
    const query = { addressId, eventId: null, state: "delivered", outcome: "delivered" } as const
    const { items } = yield* deliveries.list({ ...query, limit: 1, before: null })
    const [delivery] = items
    if (delivery === undefined) return null
    const [attempt = null] = yield* deliveries.attemptsOf(delivery.id)
    return { delivery, attempt, request: yield* requestOf(delivery) }
  })
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
        const named = DELIVERY_TABS.find((one) => one === valueOf(pairs, "tab")) ?? "response"
        const tab = named === "compare" && !isFailed(delivery) ? "response" : named
        const attempts = yield* deliveries.attemptsOf(delivery.id)
        const [address = null] = yield* addresses.some([delivery.addressId])
        const request = tab === "request" || tab === "compare" ? yield* requestOf(delivery) : null
        const worked = tab === "compare" ? yield* lastWorked(delivery) : null
        const data = { delivery, address, attempts, tab, request, worked, list: deliveryLists.in(pairs), timeZone }
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
