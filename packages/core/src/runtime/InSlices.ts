/** Long loops that let the process do other work in between. */
import { Effect } from "effect"

/** Few enough for any step of microseconds to hold the loop for a few milliseconds. */
const SLICE = 1_000

/** Calls `step` for each item, and yields between slices; what changes meanwhile is seen as far as the iterator shows it. */
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
