/** Loops over many items, and lets the process do other work in between. */
import { Effect } from "effect"

/** Few enough that steps of microseconds block the event loop for a few milliseconds at most. */
const SLICE = 1_000

/**
 * Calls `step` for each item, and yields between slices; concurrent changes are visible as far as the iterator shows
 * them.
 */
export const inSlices = Effect.fnUntraced(function* <A>(items: Iterable<A>, step: (item: A) => void) {
  let left = SLICE
  for (const item of items) {
    if (left-- === 0) {
      left = SLICE
      yield* Effect.yieldNow
    }
    step(item)
  }
})
