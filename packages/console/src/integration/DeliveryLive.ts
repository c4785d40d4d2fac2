/** Reports attempts that were made since a list was opened. The list itself does not move: its link says that there are new ones. */
import { Deliveries, type DeliveryQuery } from "@data-cabinet/core/delivery/Deliveries"
import type { Delivery } from "@data-cabinet/core/delivery/Attempt"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { eventStreams, eventText, type NextEvent } from "@data-cabinet/http-node/server/EventStream"
import { Clock, Effect } from "effect"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"
import { deliveryFilter } from "./DeliveryFilter.ts"

export const LOOK_MILLIS = 3_000
/** An attempt counts by the time at which it began, and takes less than this. */
const WINDOW_MILLIS = 90_000
/** The most deliveries of a look. */
const LIMIT = 100

type Look = (since: string) => Effect.Effect<ReadonlyArray<Delivery>, StoreUnavailable>

const keyOf = ({ id, lastAttempt }: Delivery): string => `${id} ${lastAttempt?.number ?? 0} ${lastAttempt?.at ?? ""}`

/** Waits for a delivery, or an attempt of one, that no earlier look has seen. */
export const deliveryNews = Effect.fnUntraced(function* (look: Look) {
  const seen = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const items = yield* look(new Date(now - WINDOW_MILLIS).toISOString())
    return { now, keys: new Set(items.map(keyOf)) }
  })
  let { keys: known } = yield* seen
  const next: NextEvent = Effect.gen(function* () {
    for (;;) {
      yield* Effect.sleep(LOOK_MILLIS)
      // If the database does not respond, the next look reports the new attempts.
      const found = yield* Effect.orElseSucceed(seen, () => null)
      if (found === null) continue
      const isNew = !found.keys.isSubsetOf(known)
      known = found.keys
      if (isNew) return eventText(String(found.now), "1 0 0")
    }
  })
  return next
})

export const deliveryLive = Effect.gen(function* () {
  const deliveries = yield* Deliveries
  const streams = yield* eventStreams
  const screen: ConsoleScreen = {
    path: "/console/deliveries/live",
    action: "delivery.read",
    get: Effect.fnUntraced(function* ({ pairs, actor, session, mayStill }) {
      const who = session === null ? `${actor!.kind} ${actor!.id}` : `session ${session.id}`
      const refusal = streams.refusal(who)
      if (refusal !== null) return yield* Effect.fail<ManageError>({ code: "busy", message: refusal })
      const filter: DeliveryQuery = { ...deliveryFilter(pairs), before: null, limit: LIMIT }
      const look: Look = (since) => {
        const from = filter.from != null && Date.parse(filter.from) > Date.parse(since) ? filter.from : since
        return Effect.map(deliveries.list({ ...filter, from }), ({ items }) => items)
      }
      return { answer: streams.response(who, deliveryNews(look), mayStill) }
    }),
  }
  return screen
})
