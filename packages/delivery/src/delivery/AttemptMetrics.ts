/** Metrics of attempts: how many, by outcome, and how long they took. */
import type { Outcome } from "@data-cabinet/core/delivery/Attempt"
import type { Settlement } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Effect, Metric } from "effect"

/** With its own attributes: those added to another metric copy the context of each update. */
const attempts = (outcome: string) =>
  Metric.counter("delivery_attempts_total", {
    description: "Completed delivery attempts by outcome: delivered, rejected by the receiver, or without a response.",
    attributes: { outcome },
    incremental: true,
  })

const duration = Metric.histogram("delivery_attempt_duration_seconds", {
  description: "Duration of a delivery attempt, in seconds.",
  boundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
})

const by = {
  delivered: attempts("delivered"),
  rejected: attempts("rejected"),
  noResponse: attempts("no_response"),
}

export const countAttempt = ({ outcome }: Settlement): Effect.Effect<void> => countOutcome(outcome)

/** Counts one request. */
export const countOutcome = (outcome: Outcome): Effect.Effect<void> => {
  const { status } = outcome
  const kind = status === null ? "noResponse" : status >= 200 && status <= 299 ? "delivered" : "rejected"
  return Effect.andThen(Metric.update(by[kind], 1), Metric.update(duration, outcome.durationMs / 1000))
}
