/** Measures for the operator how much is in files, and how the work on them is going, in every process that serves. */
import { background } from "@data-cabinet/core/runtime/Background"
import { type LiveGauges, liveGauges } from "@data-cabinet/core/runtime/LiveGauges"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Metric } from "effect"
import { databaseLabel } from "../connection/DatabaseLabel.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"

const GAUGES = {
  files: Metric.gauge("cold_files", { description: "Files of old events." }),
  events: Metric.gauge("cold_events", { description: "Old events in files." }),
  bytes: Metric.gauge("cold_bytes", { description: "The size of the files of old events." }),
  seconds: Metric.gauge("cold_round_age_seconds", {
    description: "Time since the last round of moving old events into files ended.",
  }),
  failures: Metric.gauge("cold_failures", {
    description: "Rounds of moving old events into files that failed, since the last one that did not.",
  }),
} as const

type Measured = { readonly [Name in keyof typeof GAUGES]: number }

/** No row in a cabinet in which no round has ended. */
const MEASURE = `
SELECT count(f.name)::float8 AS files, coalesce(sum(f.events) FILTER (WHERE f.name IS NOT NULL), 0)::float8 AS events,
  coalesce(sum(f.bytes), 0)::float8 AS bytes,
  greatest(0, extract(epoch FROM cabinet.now() - s.worked_at))::float8 AS seconds, s.failures::float8 AS failures
FROM cabinet.cold_state s LEFT JOIN cabinet.cold_file f ON true
WHERE s.worked_at IS NOT NULL GROUP BY s.worked_at, s.failures`

/** Checks once. */
export const watchCold = (gauges: LiveGauges) =>
  Effect.gen(function* () {
    const labels = yield* databaseLabel
    const sql = yield* PgClient.PgClient
    const [measured] = yield* orUnavailable(sql.unsafe<Measured>(MEASURE))
    const names = Object.keys(GAUGES) as ReadonlyArray<keyof typeof GAUGES>
    yield* gauges.show(
      measured === undefined ? [] : names.map((name) => ({ gauge: GAUGES[name], labels, value: measured[name] })),
    )
  })

export const layer = Layer.effectDiscard(
  // An unavailable database is reported by everything that needs it.
  Effect.flatMap(liveGauges, (gauges) =>
    background("cold history watch", "30 seconds", watchCold(gauges), { quiet: true }),
  ),
)
