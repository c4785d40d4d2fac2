/** Compares events with filters in slices of time, so that no filter holds up the process. */
import { compileFilter, type FieldFilters, FilteredFields } from "@data-cabinet/core/delivery/FieldFilter"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import { Effect } from "effect"

/** How long conditions are compared before other work gets its turn. */
const SLICE_MILLIS = 5

/** Returns a function that checks whether a payload passes a filter; its calls share their slices. */
export const slicedFilter = () => {
  let until = performance.now() + SLICE_MILLIS
  return Effect.fnUntraced(function* (payload: string, filters: FieldFilters) {
    const fields = new FilteredFields(ownJson(payload) as JsonObject)
    for (const filter of filters) {
      if (performance.now() > until) {
        yield* Effect.sleep(0)
        until = performance.now() + SLICE_MILLIS
      }
      if (!compileFilter(filter)(fields)) return false
    }
    return true
  })
}
