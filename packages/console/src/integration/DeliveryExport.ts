/** The deliveries of the list as a file, with its filter. */
import type { Address } from "@data-cabinet/core/delivery/Address"
import { AddressStore } from "@data-cabinet/core/delivery/AddressStore"
import type { Delivery } from "@data-cabinet/core/delivery/Attempt"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import type { DeliveryPlace } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Effect } from "effect"
import type { Frame } from "../html/Shell.ts"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"
import { LIST_FORMATS, type ListRow, listExports } from "../screen/ListExport.ts"
import { deliveryFilter } from "./DeliveryFilter.ts"
import { shownUrl } from "./IntegrationScreen.ts"

const PAGE = 500

const rowOf = (frame: Frame, one: Delivery, address: Address | undefined) => {
  const { lastAttempt: last } = one
  return {
    delivery: one.id,
    type: one.type,
    event: one.eventId,
    address: one.addressId,
    url: address === undefined ? null : shownUrl(frame, address),
    state: one.state,
    attempts: one.attempts,
    created_at: one.createdAt,
    due_at: one.dueAt,
    last_attempt_at: last?.at ?? null,
    outcome: last?.outcome ?? null,
    status: last?.status ?? null,
    duration_ms: last?.durationMs ?? null,
    // As the API says it: what is done with a file should not depend on a person's language.
    reason: last?.reason ?? null,
  } satisfies ListRow
}

const COLUMNS: ReadonlyArray<keyof ReturnType<typeof rowOf>> = [
  "delivery",
  "type",
  "event",
  "address",
  "url",
  "state",
  "attempts",
  "created_at",
  "due_at",
  "last_attempt_at",
  "outcome",
  "status",
  "duration_ms",
  "reason",
]

export const deliveryExports = Effect.gen(function* () {
  const deliveries = yield* Deliveries
  const addresses = yield* AddressStore
  const exported = yield* listExports
  return LIST_FORMATS.map((format): ConsoleScreen => ({
    path: `/console/deliveries/export.${format}`,
    action: "delivery.read",
    get: Effect.fnUntraced(function* ({ frame, pairs }) {
      const page = Effect.fnUntraced(function* (before: DeliveryPlace | null) {
        const { items, next } = yield* deliveries.list({ ...deliveryFilter(pairs), limit: PAGE, before })
        const ids = [...new Set(items.map(({ addressId }) => addressId))]
        const known = new Map((ids.length === 0 ? [] : yield* addresses.some(ids)).map((one) => [one.id, one]))
        return { rows: items.map((one) => rowOf(frame, one, known.get(one.addressId))), next }
      })
      return yield* exported({ name: "deliveries", format, columns: COLUMNS, page })
    }),
  }))
})
