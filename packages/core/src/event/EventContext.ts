/** One event with everything that belongs to it: its original request, its row and its deliveries. */
import { Context, Effect, Layer, Option } from "effect"
import type { Delivery } from "../delivery/Attempt.ts"
import { Deliveries } from "../delivery/Deliveries.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { fromCall } from "../runtime/AbortableCall.ts"
import { SelectRows } from "../selection/SelectRows.ts"
import { EventDetail, type EventRecord } from "./EventDetail.ts"

/** An event with its original request, row and deliveries. */
export interface EventInContext extends Pick<EventRecord, "event" | "original" | "rowWaits" | "rowSetAside" | "spam"> {
  /** Its row as JSON text, read the way all rows are read; null for a repeat, and while reading is off. */
  readonly row: string | null
  readonly deliveries: ReadonlyArray<Delivery>
}

export class EventContext extends Context.Service<
  EventContext,
  { readonly find: (id: number) => Effect.Effect<Option.Option<EventInContext>, StoreUnavailable> }
>()("@data-cabinet/core/event/EventContext") {
  static readonly layer = Layer.effect(
    EventContext,
    Effect.gen(function* () {
      const detail = yield* EventDetail
      const deliveries = yield* Deliveries
      const rows = yield* SelectRows

      const rowOf = (id: number, { table }: EventRecord): Effect.Effect<string | null> => {
        if (table === null) return Effect.succeed(null)
        const params = [
          ["fc", "_event_id"],
          ["fo", "eq"],
          ["fv", String(id)],
        ] as const
        return fromCall((call) => rows.page({ ...table, params }, call)).pipe(
          Effect.map(({ items }) => items.texts()[0] ?? null),
          Effect.catch((error) =>
            Effect.as(Effect.logWarning(`the event's row cannot be read: ${error.message}`), null),
          ),
        )
      }

      return EventContext.of({
        find: Effect.fnUntraced(function* (id) {
          const found = yield* detail.find(id)
          if (Option.isNone(found)) return Option.none()
          const { event, original, rowWaits, rowSetAside, spam } = found.value
          const row = yield* rowOf(id, found.value)
          const parts = { event, original, rowWaits, rowSetAside, spam, row }
          return Option.some({ ...parts, deliveries: yield* deliveries.ofEvent(id) })
        }),
      })
    }),
  )
}
