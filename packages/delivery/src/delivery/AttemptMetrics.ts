/** Metrics of attempts: how many, by outcome, and how long they took. */
import type { Settlement } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Effect, Metric } from "effect"

const attempts = Metric.counter("delivery_attempts", {
  description: "Attempts to deliver that ended, by what came of them: delivered, answered otherwise, or not answered.",
  incremental: true,
})

const millis = Metric.histogram("delivery_attempt_milliseconds", {
  description: "From the beginning of an attempt to its outcome, in milliseconds.",
  boundaries: [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 15_000],
})

const by = {
  delivered: Metric.withAttributes(attempts, { outcome: "delivered" }),
  answered: Metric.withAttributes(attempts, { outcome: "answered otherwise" }),
  silent: Metric.withAttributes(attempts, { outcome: "not answered" }),
}

export const countAttempt = ({ outcome, verdict }: Settlement): Effect.Effect<void> => {
  const kind = verdict.state === "delivered" ? "delivered" : outcome.status === null ? "silent" : "answered"
  return Effect.andThen(Metric.update(by[kind], 1), Metric.update(millis, outcome.durationMs))
}
