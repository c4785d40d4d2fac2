/** Counts the events that this process has stored. */
import { Effect, Metric } from "effect"
import type { AcceptedRow } from "./AcceptStatement.ts"

const events = Metric.counter("events_total", {
  description: "Events stored, whichever way they arrived, by whether they repeat an earlier one.",
  incremental: true,
})

// Labelled once: a metric that gets its attributes on each use computes its key again.
const firsts = Metric.withAttributes(events, { repeat: "false" })
const repeats = Metric.withAttributes(events, { repeat: "true" })

/** Counts a batch. */
export const countEvents = (rows: ReadonlyArray<AcceptedRow>): Effect.Effect<void> =>
  Effect.suspend(() => {
    let repeated = 0
    for (const { repeat_of } of rows) if (repeat_of !== null) repeated++
    return Effect.andThen(Metric.update(firsts, rows.length - repeated), Metric.update(repeats, repeated))
  })
