/**
 * Decides which addresses with a filter are sent which events. The decision belongs to the version of the source for
 * which the submission was parsed: every change of a filter gives its sources a new version, and accept refuses events
 * parsed for an older one.
 */
import type { JsonObject } from "../json/Json.ts"
import { inTime, piecesOf, type TimeLimit, untilDone } from "../runtime/WorkInTurns.ts"
import { compileFilter, type FieldFilters, FilteredFields } from "./FieldFilter.ts"

/** An address that has a filter. */
export interface FilteredAddress {
  readonly id: number
  readonly conditions: ReadonlyArray<(fields: FilteredFields) => boolean>
}

/** Which events of a request pass which filters. */
export interface FilteredDeliveries {
  /** All of the source's addresses that have a filter. */
  readonly addresses: ReadonlyArray<number>
  /** For each event, the addresses whose filter it passes. */
  readonly passed: ReadonlyArray<ReadonlyArray<number>>
}

/** The parts of an event that filters read. */
export interface FilteredEvent {
  readonly payload: JsonObject
  /** Why it is spam, which is not delivered; absent if it is not. */
  readonly spam?: unknown
}

/** Compiles the filter of an address. */
export const filteredAddress = (id: number, filters: FieldFilters): FilteredAddress => ({
  id,
  conditions: filters.map(compileFilter),
})

/** Yields before each condition: a source may have 50,000, each of which may take some milliseconds. */
function* decisions(
  addresses: ReadonlyArray<FilteredAddress>,
  events: ReadonlyArray<FilteredEvent>,
): Generator<void, FilteredDeliveries> {
  const passed: Array<ReadonlyArray<number>> = []
  for (const { payload, spam } of events) {
    const ids: Array<number> = []
    if (spam === undefined) {
      const fields = new FilteredFields(payload, true)
      for (const { id, conditions } of addresses) {
        let passes = true
        for (const holds of conditions) {
          yield
          yield* fields.index()
          passes = holds(fields)
          if (!passes) break
        }
        if (passes) ids.push(id)
      }
    }
    passed.push(ids)
  }
  return { addresses: addresses.map(({ id }) => id), passed }
}

/** Each call does a piece of the work. */
export const filterPieces = (
  addresses: ReadonlyArray<FilteredAddress>,
  events: ReadonlyArray<FilteredEvent>,
): (() => FilteredDeliveries | undefined) => piecesOf(decisions(addresses, events))

/** Decides for a request, nearly always in one piece and at once. Undefined if the deadline passes first. */
export const filteredInTime = (
  addresses: ReadonlyArray<FilteredAddress>,
  events: ReadonlyArray<FilteredEvent>,
  limit: TimeLimit,
): FilteredDeliveries | Promise<FilteredDeliveries | undefined> => inTime(decisions(addresses, events), limit)

/** A part of the request; empty for a source without such addresses. */
export const filteredDeliveries = async (
  addresses: ReadonlyArray<FilteredAddress> | undefined,
  events: ReadonlyArray<FilteredEvent>,
): Promise<{ readonly filtered?: FilteredDeliveries }> => {
  if (addresses === undefined) return NONE
  return { filtered: await untilDone(decisions(addresses, events)) }
}

const NONE = {}
