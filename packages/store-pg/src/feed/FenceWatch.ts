/**
 * Keeps an eye on the fence for whoever runs the service: gauges for the metrics, and a warning in the log once a session
 * has held the feed back for long, with its name, for a number alone cannot be asked to end. One that only waits for its
 * client is ended.
 */
import type { FenceHolder } from "@data-cabinet/core/feed/FenceHolder"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Metric, Schedule } from "effect"
import { fenceHolders } from "./FenceHolders.ts"
import { stalledHolders } from "./StalledHolders.ts"

/** An accept takes milliseconds, one that waits for a locked table about a second. */
const LONG_SECONDS = 10

const holders = Metric.gauge("feed_fence_holders", { description: "Sessions that the feed waits for." })
const seconds = Metric.gauge("feed_fence_seconds", {
  description: "For how long the oldest of the sessions that the feed waits for has held it, in seconds; 0 for none.",
})
const process = Metric.gauge("feed_fence_pid", {
  description: "The server process of the oldest session that the feed waits for; 0 for none.",
})

/** One look. Answers the oldest holder when it has held the feed for too long. */
export const watchFence = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [here] = yield* sql<{ database: string }>`SELECT current_database()::text AS database`
  const all = yield* fenceHolders
  const oldest: FenceHolder | undefined = all[0]
  const labels = { database: here!.database }
  yield* Metric.update(Metric.withAttributes(holders, labels), all.length)
  yield* Metric.update(Metric.withAttributes(seconds, labels), oldest?.seconds ?? 0)
  yield* Metric.update(Metric.withAttributes(process, labels), oldest?.pid ?? 0)
  return oldest !== undefined && oldest.seconds > LONG_SECONDS ? oldest : undefined
})

export const layer = Layer.effectDiscard(
  Effect.suspend(() => {
    let named: number | undefined
    const endStalled = stalledHolders()
    return watchFence.pipe(
      Effect.flatMap((holder) => {
        if (holder === undefined || holder.pid === named) return Effect.void
        named = holder.pid
        const { pid, application, since } = holder
        return Effect.logWarning(`the feed is held back by process ${pid} (${application}) since ${since ?? "unknown"}`)
      }),
      Effect.andThen(endStalled),
      // A database that is away is reported by all who need it.
      Effect.catchCause(() => Effect.void),
      Effect.repeat(Schedule.spaced("5 seconds")),
      Effect.forkScoped,
    )
  }),
)
