/** Measures for the operator how far followers are behind, in every process that serves. */
import { FollowerStore } from "@data-cabinet/core/follower/FollowerStore"
import { background } from "@data-cabinet/core/runtime/Background"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Metric } from "effect"

const events = Metric.gauge("follower_behind_events", {
  description: "Events whose work a follower has not done yet, counted up to 10,000.",
})
const seconds = Metric.gauge("follower_behind_seconds", {
  description: "For how long the first event behind a follower's position has waited; 0 without one.",
})
const failures = Metric.gauge("follower_failures", {
  description: "Failures of a follower since its position last moved.",
})

/** Checks once. */
export const watchFollowers = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [here] = yield* sql<{ database: string }>`SELECT current_database()::text AS database`
  for (const follower of yield* FollowerStore.use((store) => store.list)) {
    const labels = { database: here!.database, kind: follower.kind, name: follower.name }
    yield* Metric.update(Metric.withAttributes(events, labels), follower.behind)
    yield* Metric.update(Metric.withAttributes(seconds, labels), follower.behindSeconds)
    yield* Metric.update(Metric.withAttributes(failures, labels), follower.failures)
  }
})

export const layer = Layer.effectDiscard(
  // An unavailable database is reported by everything that needs it.
  background("follower watch", "30 seconds", watchFollowers, { quiet: true }),
)
