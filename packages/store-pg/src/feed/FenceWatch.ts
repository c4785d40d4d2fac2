/**
 * Monitors the fence for the operator: gauges for the metrics, and a warning in the log once a session has held the
 * feed back for long. The warning names the session, because a number alone does not identify the session to terminate.
 * A session that only waits for its client is terminated.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import type { FenceHolder } from "@data-cabinet/core/feed/FenceHolder"
import { type LiveGauges, liveGauges } from "@data-cabinet/core/runtime/LiveGauges"
import { Effect, Layer, Metric } from "effect"
import { databaseLabel } from "../connection/DatabaseLabel.ts"
import { stalledHolders } from "./StalledHolders.ts"
import { PgClient } from "@effect/sql-pg"
import { HOLDERS } from "./Fence.ts"

/** A session without a transaction id holds nothing back: it will get one above everything shown. */
const FENCE_HOLDERS = `
SELECT h.pid, coalesce(h.application_name, '') AS application, cabinet.rfc3339(h.xact_start) AS since,
       coalesce(extract(epoch FROM clock_timestamp() - h.xact_start), 0)::float8 AS seconds
FROM (SELECT DISTINCT a.pid, a.application_name, a.xact_start
      FROM ${HOLDERS} AND (a.backend_xid IS NOT NULL OR a.xact_start IS NULL)) h
ORDER BY h.xact_start NULLS FIRST`

/** The sessions that the feed waits for, oldest first. */
export const fenceHolders = PgClient.PgClient.use((sql) => sql.unsafe<FenceHolder>(FENCE_HOLDERS))

/** An accept takes milliseconds; one that waits for a locked table takes about a second. */
const LONG_SECONDS = 10

const holders = Metric.gauge("feed_fence_holders", { description: "Sessions that the feed waits for." })
const seconds = Metric.gauge("feed_fence_seconds", {
  description: "For how long the oldest of the sessions that the feed waits for has held it, in seconds; 0 for none.",
})
const process = Metric.gauge("feed_fence_pid", {
  description: "The server process of the oldest session that the feed waits for; 0 for none.",
})

/** Checks once. Returns the oldest holder if it has held the feed for too long. */
export const watchFence = (gauges: LiveGauges) =>
  Effect.gen(function* () {
    const labels = yield* databaseLabel
    const all = yield* fenceHolders
    const oldest: FenceHolder | undefined = all[0]
    yield* gauges.show([
      { gauge: holders, labels, value: all.length },
      { gauge: seconds, labels, value: oldest?.seconds ?? 0 },
      { gauge: process, labels, value: oldest?.pid ?? 0 },
    ])
    return oldest !== undefined && oldest.seconds > LONG_SECONDS ? oldest : undefined
  })

export const layer = Layer.effectDiscard(
  Effect.flatMap(liveGauges, (gauges) => {
    let named: number | undefined
    const endStalled = stalledHolders()
    const round = watchFence(gauges).pipe(
      Effect.flatMap((holder) => {
        if (holder === undefined || holder.pid === named) return Effect.void
        named = holder.pid
        const { pid, application, since } = holder
        return Effect.logWarning(`the feed is held back by process ${pid} (${application}) since ${since ?? "unknown"}`)
      }),
      Effect.andThen(endStalled),
    )
    // An unavailable database is reported by everything that needs it.
    return background("feed fence watch", "5 seconds", round, { quiet: true })
  }),
)
