/** The screen that lists deliveries, and the act that sends the marked ones again. */
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { DELIVERY_STATES } from "@data-cabinet/core/delivery/Attempt"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { Sources } from "@data-cabinet/core/source/Sources"
import { isTimestamp } from "@data-cabinet/core/text/Timestamp"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect, Result } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { FORM_AT } from "../html/PostForm.ts"
import { act, fieldOf, fieldsOf, idOf } from "../screen/Act.ts"
import type { ConsoleScreen, Pairs } from "../screen/ConsoleScreen.ts"
import { isConsoleAddress } from "../screen/FormAgain.ts"
import { valueOf } from "../table/SelectionLinks.ts"
import { deliveryListScreen, RETRYING } from "./DeliveryListScreen.ts"
import { utc } from "./UtcField.ts"

const LIST_LIMIT = 50

const nothingMarked: ManageError = {
  code: "bad_param",
  message: "Nothing was done: select at least one delivery.",
  param: "delivery",
}

/** An unknown filter is ignored: a person typed this address, not a program. */
const filterOf = (pairs: Pairs) => {
  const id = (name: string) => idOf(valueOf(pairs, name)) || null
  const state = valueOf(pairs, "state")
  const time = (name: string) => {
    const text = utc(valueOf(pairs, name) ?? "")
    return isTimestamp(text) ? text : null
  }
  return {
    addressId: id("address_id"),
    eventId: id("event_id"),
    sourceId: id("source_id"),
    state: DELIVERY_STATES.find((one) => one === state) ?? null,
    retrying: state === RETRYING || valueOf(pairs, RETRYING) === "true",
    from: time("from"),
    to: time("to"),
    before: id("before"),
  }
}

export const deliveryListScreens = Effect.gen(function* () {
  const deliveries = yield* Deliveries
  const addresses = yield* Addresses
  const sources = yield* Sources
  const { timeZone } = yield* ConsoleSettings
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/deliveries",
      action: "delivery.read",
      get: Effect.fnUntraced(function* ({ frame, pairs }) {
        const list = yield* deliveries.list({ ...filterOf(pairs), limit: LIST_LIMIT })
        const data = { list, addresses: yield* addresses.list, sources: yield* sources.list, pairs, timeZone }
        return { screen: deliveryListScreen(frame, data) }
      }),
    },
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
  return screens
})
