/** Measures for the operator how far followers are behind, in every process that serves. */
import { FollowerStore } from "@data-cabinet/core/follower/FollowerStore"
import { background } from "@data-cabinet/core/runtime/Background"
import { type LiveGauges, liveGauges } from "@data-cabinet/core/runtime/LiveGauges"
import { Effect, Layer, Metric } from "effect"
import { databaseLabel } from "../connection/DatabaseLabel.ts"

const events = Metric.gauge("follower_behind_events", {
  description: "Events whose work a follower has not done yet, counted up to 10,000.",
})
const seconds = Metric.gauge("follower_behind_seconds", {
  description: "For how long the first event after a follower's position has waited; 0 without one.",
})
const failures = Metric.gauge("follower_failures", {
  description: "Failures of a follower since its position last moved.",
})

/** Checks once. */
export const watchFollowers = (gauges: LiveGauges) =>
  Effect.gen(function* () {
    const database = yield* databaseLabel
    const followers = yield* FollowerStore.use((store) => store.list)
    yield* gauges.show(
      followers.flatMap(({ kind, name, behind, behindSeconds, failures: failed }) => {
        const labels = { ...database, kind, name }
        return [
          { gauge: events, labels, value: behind },
          { gauge: seconds, labels, value: behindSeconds },
          { gauge: failures, labels, value: failed },
        ]
      }),
    )
  })

export const layer = Layer.effectDiscard(
  // An unavailable database is reported by everything that needs it.
  Effect.flatMap(liveGauges, (gauges) =>
    background("follower watch", "30 seconds", watchFollowers(gauges), { quiet: true }),
  ),
)
