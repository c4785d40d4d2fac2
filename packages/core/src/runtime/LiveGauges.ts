/**
 * The gauges of one watch. A gauge keeps its last value for ever, so the series of a removed follower or a closed cabinet
 * would be reported, and alerted on, until the process ends: here a series ends with what it measures.
 */
import { Effect, Metric, type Scope } from "effect"

/** A value of a gauge at one moment. */
export interface Sample {
  readonly gauge: Metric.Gauge<number>
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export class LiveGauges {
  /** The series of the last round, by gauge and labels. */
  #shown = new Map<string, Metric.Metric<number, unknown>>()

  /** Shows the samples of a round, and no others. */
  show(samples: ReadonlyArray<Sample>): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const before = this.#shown
      this.#shown = new Map()
      for (const { gauge, labels, value } of samples) {
        const series = Metric.withAttributes(gauge, labels)
        const key = JSON.stringify([gauge.id, labels])
        this.#shown.set(key, series)
        before.delete(key)
        yield* Metric.update(series, value)
      }
      for (const series of before.values()) yield* Metric.remove(series)
    })
  }
}

/** Gauges whose series end with the scope. */
export const liveGauges: Effect.Effect<LiveGauges, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => new LiveGauges()),
  (gauges) => gauges.show([]),
)
