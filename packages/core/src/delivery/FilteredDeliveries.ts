/**
 * Decides which addresses with a filter are sent which events. The decision belongs to the version of the source for
 * which the submission was parsed: every change of a filter gives its sources a new version, and accept refuses events
 * parsed for an older one.
 */
import type { JsonObject } from "../json/Json.ts"
import type { Deadline } from "../runtime/Deadline.ts"
import { inTurns } from "../runtime/InTurns.ts"
import type { TimerWheel } from "../runtime/TimerWheel.ts"
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

/** How long one piece takes. */
const PIECE_MILLIS = 5

/** Each call does a piece of the work. */
export const filterPieces = (
  addresses: ReadonlyArray<FilteredAddress>,
  events: ReadonlyArray<FilteredEvent>,
): (() => FilteredDeliveries | undefined) => {
  const work = decisions(addresses, events)
  return () => {
    const until = performance.now() + PIECE_MILLIS
    do {
      const step = work.next()
      if (step.done === true) return step.value
    } while (performance.now() < until)
    return undefined
  }
}

const takeTurns = inTurns(setImmediate)

/** The pieces after the first, in turn with those of other requests. Undefined if the deadline passes first. */
export const laterPieces = (
  piece: () => FilteredDeliveries | undefined,
  isOver: () => boolean = () => false,
): Promise<FilteredDeliveries | undefined> =>
  new Promise((resolve, reject) => {
    takeTurns(() => {
      try {
        const filtered = isOver() ? undefined : piece()
        if (filtered === undefined && !isOver()) return false
        resolve(filtered)
      } catch (fault) {
        reject(fault)
      }
      return true
    }, "")
  })

/** Decides for a request, nearly always in one piece and at once. Undefined if the deadline passes first. */
export const filteredInTime = (
  addresses: ReadonlyArray<FilteredAddress>,
  events: ReadonlyArray<FilteredEvent>,
  { deadline, wheel }: { readonly deadline: Deadline; readonly wheel: Pick<TimerWheel, "watch"> },
): FilteredDeliveries | Promise<FilteredDeliveries | undefined> => {
  const piece = filterPieces(addresses, events)
  const filtered = piece()
  if (filtered !== undefined) return filtered
  let isOver = false
  const stopWatch = wheel.watch({ deadline, expire: () => (isOver = true) })
  return laterPieces(piece, () => isOver).finally(stopWatch)
}

/** A part of the request; empty for a source without such addresses. */
export const filteredDeliveries = async (
  addresses: ReadonlyArray<FilteredAddress> | undefined,
  events: ReadonlyArray<FilteredEvent>,
): Promise<{ readonly filtered?: FilteredDeliveries }> => {
  if (addresses === undefined) return NONE
  const piece = filterPieces(addresses, events)
  const filtered = piece() ?? (await laterPieces(piece))
  return filtered === undefined ? NONE : { filtered }
}

const NONE = {}
