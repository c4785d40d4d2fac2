/**
 * Decides which addresses with a filter are sent which events. The decision belongs to the version of the source for
 * which the submission was parsed: every change of a filter gives its sources a new version, and accept refuses events
 * parsed for an older one.
 */
import type { JsonObject } from "../json/Json.ts"
import { compileFilters, type FieldFilters, FilteredFields } from "./FieldFilter.ts"

/** An address that has a filter. */
export interface FilteredAddress {
  readonly id: number
  readonly passes: (fields: FilteredFields) => boolean
}

/** Which events of a request pass which filters. */
export interface FilteredDeliveries {
  /** All of the source's addresses that have a filter. */
  readonly addresses: ReadonlyArray<number>
  /** For each event, the addresses whose filter it passes. */
  readonly passed: ReadonlyArray<ReadonlyArray<number>>
}

/** An event as far as filters read it. */
interface FilteredEvent {
  readonly payload: JsonObject
  /** Why it is spam, which is not delivered; absent if it is not. */
  readonly spam?: unknown
}

/** Compiles the filter of an address. */
export const filteredAddress = (id: number, filters: FieldFilters): FilteredAddress => ({
  id,
  passes: compileFilters(filters),
})

/** A part of the request; empty for a source without such addresses. */
export const filteredDeliveries = (
  addresses: ReadonlyArray<FilteredAddress> | undefined,
  events: ReadonlyArray<FilteredEvent>,
): { readonly filtered?: FilteredDeliveries } => {
  if (addresses === undefined) return NONE
  const passed = events.map(({ payload, spam }) => {
    if (spam !== undefined) return []
    const fields = new FilteredFields(payload)
    const ids: Array<number> = []
    for (const { id, passes } of addresses) if (passes(fields)) ids.push(id)
    return ids
  })
  return { filtered: { addresses: addresses.map(({ id }) => id), passed } }
}

const NONE = {}
