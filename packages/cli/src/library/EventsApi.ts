/** Single events of a cabinet, with promises: looked into, taken back, erased. */
import { EventDetail, type StoredOriginal } from "@data-cabinet/core/event/EventDetail"
import { Trash } from "@data-cabinet/core/event/Trash"
import type { Delivery } from "@data-cabinet/core/delivery/Attempt"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Effect, Option } from "effect"
import { eventOf, type StoredEvent } from "./FeedApi.ts"
import type { Run } from "./RunEffect.ts"

/** The request that brought an event, as it came; cookies and authorization are never kept. */
export type OriginalRequest = StoredOriginal

/** Everything that is kept of one event. */
export interface EventInspection {
  /** As the feed shows it. */
  readonly event: StoredEvent
  /** Null where there was none (files, polls, this program's own), or once its time was over. */
  readonly original: OriginalRequest | null
  /** Its deliveries, to every address that is told of it. */
  readonly deliveries: ReadonlyArray<Delivery>
  /** True while its row waits behind others for a table that is locked. */
  readonly rowWaits: boolean
}

/** What a program does with events that are there already. Their places in the feed stay in every case. */
export interface EventsApi {
  /** One event with its original request and its deliveries; null where there is none. */
  readonly inspect: (id: number) => Promise<EventInspection | null>
  /**
   * Takes events of a source back: their rows go, `deleted_at` is set, what was not yet delivered is cancelled. All or,
   * when one is not this source's, none. Answers how many were not in the trash before.
   */
  readonly trash: (sourceId: number, events: ReadonlyArray<number>) => Promise<number>
  /** Takes them out of the trash: the rows come back, cancelled deliveries do not. Answers how many. */
  readonly untrash: (sourceId: number, events: ReadonlyArray<number>) => Promise<number>
  /** Erases for good what was sent, in repeats and the original request too. It cannot be undone. Answers how many. */
  readonly purge: (events: ReadonlyArray<number>) => Promise<number>
}

const inspection = (id: number) =>
  Effect.gen(function* () {
    const found = yield* EventDetail.use((detail) => detail.find(id))
    if (Option.isNone(found)) return null
    const { event, original, rowWaits } = found.value
    const deliveries = yield* DeliveryQueue.use((queue) => queue.ofEvent(id))
    return { event: eventOf(event), original, deliveries, rowWaits }
  })

export const eventsApi = (run: Run): EventsApi => ({
  inspect: (id) => run(inspection(id)),
  trash: (sourceId, events) => run(Trash.use((trash) => trash.trash(sourceId, events))),
  untrash: (sourceId, events) => run(Trash.use((trash) => trash.untrash(sourceId, events))),
  purge: (events) => run(Trash.use((trash) => trash.purge(events))),
})
