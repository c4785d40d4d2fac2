/**
 * Erases a person's data on request: the events whose fields meet conditions, with the operators of the table screen.
 * Each event loses everything that a purge removes: payload, original request, row, responses, and repeats. It
 * processes events in stretches, oldest first. Each stretch is atomic, and erased events are not found again, so that
 * an interrupted caller may start over or continue after the last stretch. Events accepted meanwhile may be missed.
 *
 * The original request of a batch is erased with any of its events, because it contains them all; the other events and
 * their rows stay. Refuses an empty list of conditions: that would match everything.
 */
import { Clock, Context, Effect, Layer, Option, Result } from "effect"
import { AddressError } from "../delivery/AddressError.ts"
import { checkFilters, compileFilters, type FieldFilters, FilteredFields } from "../delivery/FieldFilter.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"
import { parseJson } from "../json/ParseJson.ts"
import { EMPTY_OBJECT } from "../json/Json.ts"
import { Sources } from "../source/Sources.ts"
import { type ErasableEvent, type ErasableEvents, type ErasureCounts, ErasureStore } from "./ErasureStore.ts"
import { Trash, TrashError } from "./Trash.ts"

export type { ErasureCounts }

/** Which events to erase. */
export interface ErasureQuery {
  /** All of them must hold; at least one. */
  readonly filters: FieldFilters
  /** Null for the events of all sources. */
  readonly sourceId: number | null
  /** Continues after the event with this number; 0 to begin. */
  readonly after: number
}

/** The events found, or erased, in one stretch. */
export interface ErasureStretch extends ErasureCounts {
  /** Where the next stretch begins; null at the end. */
  readonly next: number | null
}

interface ShownStretch extends ErasureCounts {
  readonly nextAfter: number | null
}

/** The stretch's JSON and its description. */
export const erasureShape = Shape.derived(
  ({ next, ...counts }: ErasureStretch): ShownStretch => ({ ...counts, nextAfter: next }),
  Shape.named(
    "Erasure",
    Shape.object<ShownStretch>("What a stretch of an erasure takes.", {
      events: Shape.whole("Events other than repeats."),
      repeats: Shape.whole("Repeats of these."),
      rows: Shape.whole("Of the events: those that had a row, or would."),
      originals: Shape.whole("Of events and repeats: those whose original request was still kept."),
      deliveries: Shape.whole("Deliveries that waited to be sent, and are cancelled."),
      nextAfter: Shape.orNull(
        Shape.leaf<number>({ type: "integer" }),
        "Where the next stretch begins; null after the last one.",
      ),
    }),
  ),
)

type Returns = Effect.Effect<ErasureStretch, AddressError | TrashError | StoreUnavailable>

/** A stretch ends after this time, so that a request for one is short. */
const STRETCH_MILLIS = 2_000

/** The counts of an erasure that found nothing. */
export const NOTHING_ERASED: ErasureCounts = { events: 0, repeats: 0, rows: 0, originals: 0, deliveries: 0 }

/** Adds the counts of two stretches. */
export const addCounts = (a: ErasureCounts, b: ErasureCounts): ErasureCounts => ({
  events: a.events + b.events,
  repeats: a.repeats + b.repeats,
  rows: a.rows + b.rows,
  originals: a.originals + b.originals,
  deliveries: a.deliveries + b.deliveries,
})

export class Erasure extends Context.Service<
  Erasure,
  {
    /** Counts what the next stretch of an erasure would erase; changes nothing. */
    readonly find: (query: ErasureQuery) => Returns
    /** Erases the next stretch for good. */
    readonly erase: (query: ErasureQuery) => Returns
  }
>()("@data-cabinet/core/event/Erasure") {
  static readonly layer = Layer.effect(
    Erasure,
    Effect.gen(function* () {
      const store = yield* ErasureStore
      const sources = yield* Sources
      const trash = yield* Trash

      const checked = Effect.fnUntraced(function* ({ filters, sourceId }: ErasureQuery) {
        if (filters.length === 0) {
          const message = "An erasure needs at least one condition: without any, it would erase everything."
          return yield* new AddressError({ code: "bad_filter", message })
        }
        if (sourceId !== null && Option.isNone(yield* sources.get(sourceId))) {
          return yield* new TrashError({ code: "no_such_source", message: `Source ${sourceId} does not exist.` })
        }
        return compileFilters(yield* Effect.fromResult(checkFilters(filters)))
      })

      const stretch = (
        query: ErasureQuery,
        take: (events: ReadonlyArray<number>) => Effect.Effect<unknown, TrashError | StoreUnavailable>,
      ) =>
        Effect.gen(function* () {
          const holds = yield* checked(query)
          const until = (yield* Clock.currentTimeMillis) + STRETCH_MILLIS
          let counts = NOTHING_ERASED
          let next: number | null = query.after
          do {
            const read: ErasableEvents = yield* store.read(next, query.sourceId)
            const meant = read.events.filter((event) => isMeant(event, holds)).map(({ id }) => id)
            if (meant.length > 0) {
              counts = addCounts(counts, yield* store.count(meant))
              yield* take(meant)
            }
            next = read.next
          } while (next !== null && (yield* Clock.currentTimeMillis) < until)
          return { ...counts, next }
        })

      return Erasure.of({
        find: (query) => stretch(query, () => Effect.void),
        erase: (query) => stretch(query, trash.purge),
      })
    }),
  )
}

const fieldsOf = (payload: string): FilteredFields => {
  const parsed = parseJson(payload)
  return new FilteredFields(Result.isSuccess(parsed) && parsed.success instanceof Map ? parsed.success : EMPTY_OBJECT)
}

/**
 * A repeat is erased with its original. It is matched separately only if the original, whose fields from headers may
 * differ, does not match.
 */
const isMeant = ({ payload, firstPayload }: ErasableEvent, holds: (fields: FilteredFields) => boolean): boolean =>
  holds(fieldsOf(payload)) && (firstPayload === null || !holds(fieldsOf(firstPayload)))
