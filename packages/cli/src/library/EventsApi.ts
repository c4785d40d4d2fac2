/** Single events of a cabinet, with promises: inspect, trash, erase. */
import { EventDetail, type StoredOriginal } from "@data-cabinet/core/event/EventDetail"
import {
  addCounts,
  Erasure,
  type ErasureCounts,
  type ErasureQuery,
  type ErasureStretch,
  NOTHING_ERASED,
} from "@data-cabinet/core/event/Erasure"
import type { FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import { Rereading, type RereadOptions } from "@data-cabinet/core/intake/Rereading"
import type { RereadPage, RereadVerdicts } from "@data-cabinet/core/intake/RereadVerdict"
import { Trash } from "@data-cabinet/core/event/Trash"
import type { Delivery } from "@data-cabinet/core/delivery/Attempt"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import type { LatePage, LateVerdicts } from "@data-cabinet/core/verification/LateVerdict"
import { type LateQuery, LateVerification } from "@data-cabinet/core/event/LateVerification"
import { Effect, Option } from "effect"
import type { SpamReason } from "@data-cabinet/core/event/EventLog"
import { eventOf, type StoredEvent } from "./FeedApi.ts"
import type { Run } from "./RunEffect.ts"

/** The request that brought an event, as received; cookies and authorization are never kept. */
export type OriginalRequest = StoredOriginal
export type { ErasureCounts }

/** Everything stored about one event. */
export interface EventInspection {
  /** The event as the feed shows it. */
  readonly event: StoredEvent
  /** The request that brought it; null for files, polls and this program's own events, and after its retention period. */
  readonly original: OriginalRequest | null
  /** Its deliveries to all addresses. */
  readonly deliveries: ReadonlyArray<Delivery>
  /** True while its row is deferred because the table is locked. */
  readonly rowWaits: boolean
  /** Why its row, which is retried, is missing from the table or incomplete, in words; null if it is not set aside. */
  readonly rowSetAside: string | null
  /** Why it is spam by the rules of its source; null if it is not. */
  readonly spam: SpamReason | null
}

/** Which events `purgeWhere` considers, and whether it erases them. */
export interface PurgeWhereOptions {
  /** Only events of this source. */
  readonly sourceId?: number | undefined
  /** Counts what would be erased, and changes nothing. */
  readonly dryRun?: boolean | undefined
}

/** How to reread stored events. */
export interface RereadSettings {
  /** The charset, by any name that a `Content-Type` may use. */
  readonly encoding: string
  /** Also reads values in it that are valid UTF-8, or declare a charset of their own. */
  readonly allValues?: boolean | undefined
  /** Delivers changed events again. */
  readonly deliver?: boolean | undefined
  /** Only returns what would change. */
  readonly dryRun?: boolean | undefined
}

/** Operations on stored events. None of them moves an event in the feed. */
export interface EventsApi {
  /** Returns one event with its original request and its deliveries; null if unknown. */
  readonly inspect: (id: number) => Promise<EventInspection | null>
  /**
   * Moves events of a source to the trash: their rows are deleted, `deleted_at` is set, undelivered deliveries are
   * cancelled. All of them, or none if one belongs to another source. Returns how many were not in the trash before.
   */
  readonly trash: (sourceId: number, events: ReadonlyArray<number>) => Promise<number>
  /**
   * Restores events and their rows from the trash, but not cancelled deliveries. Spam outside the trash becomes an ordinary
   * event with a row, and is delivered. Returns how many events changed.
   */
  readonly untrash: (sourceId: number, events: ReadonlyArray<number>) => Promise<number>
  /** Permanently erases the submitted data, including repeats and original requests. Returns how many events were erased. */
  readonly purge: (events: ReadonlyArray<number>) => Promise<number>
  /**
   * Erases a person's data: all events, of one source or of all, whose fields meet all conditions, and their repeats. It
   * erases them as `purge` does; `dryRun` only counts them. Resolves after going through all events.
   */
  readonly purgeWhere: (filters: FieldFilters, options?: PurgeWhereOptions) => Promise<ErasureCounts>
  /**
   * Verifies the senders of at most 1,000 stored events against the current recipe and secrets of their sources. With
   * `deliver`, events that it verifies are delivered, each request once.
   */
  readonly verify: (
    events: ReadonlyArray<number>,
    options?: { readonly deliver?: boolean | undefined },
  ) => Promise<LateVerdicts>
  /**
   * Verifies a page of a source's events, oldest first; continue with `cursor` while `nextCursor` is not null. With `dryRun`,
   * it only returns the expected outcome.
   */
  readonly verifySource: (
    sourceId: number,
    options?: {
      readonly deliver?: boolean | undefined
      readonly dryRun?: boolean | undefined
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    },
  ) => Promise<LatePage>
  /**
   * Decodes the original requests of at most 1,000 stored events again, and corrects the events and their rows. The events
   * keep their numbers and their places in the feed.
   */
  readonly reread: (events: ReadonlyArray<number>, settings: RereadSettings) => Promise<RereadVerdicts>
  /** Rereads a page of a source's events, oldest first; continue with `cursor` while `nextCursor` is not null. */
  readonly rereadSource: (
    sourceId: number,
    settings: RereadSettings & { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  ) => Promise<RereadPage>
}

const rereadOptions = ({ encoding, allValues = false, deliver = false }: RereadSettings): RereadOptions => ({
  encoding,
  allValues,
  deliver,
})

const everywhere = (filters: FieldFilters, { sourceId, dryRun = false }: PurgeWhereOptions) =>
  Effect.gen(function* () {
    const erasure = yield* Erasure
    let counts = NOTHING_ERASED
    let after: number | null = 0
    while (after !== null) {
      const query: ErasureQuery = { filters, sourceId: sourceId ?? null, after }
      const { next, ...found }: ErasureStretch = yield* dryRun ? erasure.find(query) : erasure.erase(query)
      counts = addCounts(counts, found)
      after = next
    }
    return counts
  })

const inspection = (id: number) =>
  Effect.gen(function* () {
    const found = yield* EventDetail.use((detail) => detail.find(id))
    if (Option.isNone(found)) return null
    const { event, original, rowWaits, rowSetAside, spam } = found.value
    const deliveries = yield* Deliveries.use((all) => all.ofEvent(id))
    return { event: eventOf(event), original, deliveries, rowWaits, rowSetAside, spam }
  })

/** Builds the methods of `cabinet.events`. */
export const eventsApi = (run: Run, baseUrl: string): EventsApi => ({
  inspect: (id) => run(inspection(id)),
  trash: (sourceId, events) => run(Trash.use((trash) => trash.trash(sourceId, events))),
  untrash: (sourceId, events) => run(Trash.use((trash) => trash.untrash(sourceId, events))),
  purge: (events) => run(Trash.use((trash) => trash.purge(events))),
  purgeWhere: (filters, options = {}) => run(everywhere(filters, options)),
  verify: (events, { deliver = false } = {}) =>
    run(LateVerification.use((late) => late.events(events, { deliver, baseUrl }))),
  verifySource: (sourceId, { deliver = false, dryRun = false, limit, cursor } = {}) => {
    const query: LateQuery = { sourceId, deliver, baseUrl, cursor, ...(limit === undefined ? {} : { limit }) }
    return run(LateVerification.use((late) => (dryRun ? late.trySource(query) : late.source(query))))
  },
  reread: (events, settings) => {
    const options = rereadOptions(settings)
    return run(Rereading.use((all) => (settings.dryRun ? all.tryEvents(events, options) : all.events(events, options))))
  },
  rereadSource: (sourceId, { limit, cursor, ...settings }) => {
    const query = { sourceId, ...rereadOptions(settings), limit, cursor }
    return run(Rereading.use((all) => (settings.dryRun ? all.trySource(query) : all.source(query))))
  },
})
