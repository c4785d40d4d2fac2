/** The screen that lists deliveries, and the act that sends the marked ones again. */
import { ActivityStore } from "@data-cabinet/core/activity/ActivityStore"
import { AddressStore } from "@data-cabinet/core/delivery/AddressStore"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Clock, Effect, Result } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { FORM_AT } from "../html/PostForm.ts"
import { consolePath, type Frame } from "../html/Shell.ts"
import { act, fieldOf, fieldsOf, idOf } from "../screen/Act.ts"
import type { ConsoleScreen, Pairs } from "../screen/ConsoleScreen.ts"
import { isConsoleAddress } from "../screen/FormAgain.ts"
import { withQuery } from "../screen/SelectionLinks.ts"
import { CHART_HOURS, worstAddresses } from "./AttemptsChart.ts"
import { deliveryExports } from "./DeliveryExport.ts"
import { deliveryFilter } from "./DeliveryFilter.ts"
import { DELIVERY_FILTERS, deliveryListScreen } from "./DeliveryListScreen.ts"
import { deliveryLive } from "./DeliveryLive.ts"

const LIST_LIMIT = 50
/** The most addresses to choose from, besides those that the screen names. */
const CHOICES = 100
/** About how many of the newest deliveries are counted by type and source. */
const COUNTED = 1_000
/** The most addresses that are named because they wait at an event. */
const MOST_WAITING = 5

const nothingMarked: ManageError = {
  code: "bad_param",
  message: "Nothing was done: select at least one delivery.",
  param: "delivery",
}

/** Without a filter it is refused: nobody means to send everything again that was ever delivered. */
const noFilter: ManageError = {
  code: "bad_param",
  message: "Nothing was done: choose a filter first.",
  param: "state",
}

export const deliveryListScreens = Effect.gen(function* () {
  const deliveries = yield* Deliveries
  const queue = yield* DeliveryQueue
  const addresses = yield* AddressStore
  const sources = yield* Sources
  const activity = yield* ActivityStore
  const { timeZone } = yield* ConsoleSettings
  const listed = Effect.fnUntraced(function* (frame: Frame, pairs: Pairs, count: number | null = null) {
    const { before: _, ...filter } = deliveryFilter(pairs)
    const list = yield* deliveries.list({ ...deliveryFilter(pairs), limit: LIST_LIMIT })
    const [first, waiting, from, counts, byKind, now] = yield* Effect.all(
      [
        addresses.list({ after: 0, limit: CHOICES }),
        addresses.troubled("waiting", MOST_WAITING),
        sources.list,
        activity.attempts(CHART_HOURS),
        queue.counts({ ...filter, sourceId: null, type: null }, COUNTED),
        Clock.currentTimeMillis,
      ],
      { concurrency: 3 },
    )
    const { addressId } = deliveryFilter(pairs)
    const named = new Set([...list.items.map((one) => one.addressId), ...worstAddresses(counts).map(([id]) => id)])
    if (addressId !== null) named.add(addressId)
    for (const { id } of first) named.delete(id)
    const where = [...first, ...(named.size === 0 ? [] : yield* addresses.some([...named]))]
    const data = { list, addresses: where, waiting, sources: from, counts, byKind, now, pairs, count, timeZone }
    return { screen: deliveryListScreen(frame, data) }
  })
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/deliveries",
      action: "delivery.read",
      get: ({ frame, pairs }) => listed(frame, pairs),
    },
    act({
      path: "/console/deliveries/resend-all",
      action: "delivery.change",
      home: () => "deliveries",
      repeat: (call) => (fieldOf(call, "confirm") === "yes" ? "once" : "allowed"),
      respond: Effect.fnUntraced(function* (call) {
        const pairs = DELIVERY_FILTERS.flatMap((name) => {
          const value = fieldOf(call, name)
          return value === "" ? [] : [[name, value] as const]
        })
        if (pairs.length === 0) return yield* Effect.fail(noFilter)
        const { before: _, ...filter } = deliveryFilter(pairs)
        if (fieldOf(call, "confirm") !== "yes") {
          return yield* listed(call.frame, pairs, yield* deliveries.countListed(filter))
        }
        yield* deliveries.resendListed(filter)
        return { location: withQuery(consolePath(call.frame, "deliveries"), pairs) }
      }),
    }),
    act({
      path: "/console/deliveries/resend",
      action: "delivery.change",
      home: () => "deliveries",
      repeat: "once",
      respond: Effect.fnUntraced(function* (call) {
        const marked = fieldsOf(call, "delivery").map(idOf)
        if (marked.length === 0) return yield* Effect.fail(nothingMarked)
        const results = yield* Effect.forEach(marked, (id) => Effect.result(deliveries.resend(id)))
        // A delivery that cannot be sent again does not stop the others.
        const refused = results.find(Result.isFailure)
        if (refused !== undefined) return yield* Effect.fail(refused.failure)
        const at = fieldOf(call, FORM_AT)
        return isConsoleAddress(at) ? { location: `${call.frame.base}${at}` } : null
      }),
    }),
  ]
  return [...screens, yield* deliveryLive, ...(yield* deliveryExports)]
})
