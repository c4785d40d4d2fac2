/**
 * How fast a rebuild copies rows. On a machine with nothing else to do, it copies slice after slice. A slice that takes
 * long shows that others need the machine too, such as those who send events: the next slices are half as large, so that none
 * holds the process for long, and a rest follows each. Smaller ones would cost more round trips than they save.
 */
import { Clock, Effect } from "effect"

const MOST_ROWS = 1_000
const LEAST_ROWS = 500
/** A slice that takes longer shows that the machine is busy. */
const BRISK_MILLIS = 100
const LONGEST_REST_MILLIS = 500

export class RebuildPace {
  /** How many rows the next slice has. */
  rows = MOST_ROWS
  /** The rest after the last slice. */
  restMillis = 0

  /** Notes how long a slice took. */
  took(millis: number): void {
    const isBusy = millis > BRISK_MILLIS
    this.rows = isBusy ? Math.max(LEAST_ROWS, Math.floor(this.rows / 2)) : Math.min(MOST_ROWS, this.rows * 2)
    this.restMillis = isBusy ? Math.min(millis / 2, LONGEST_REST_MILLIS) : 0
  }

  /** Runs a slice, and rests after it. */
  slice<A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.gen({ self: this }, function* () {
      const began = yield* Clock.currentTimeMillis
      const done = yield* work
      this.took((yield* Clock.currentTimeMillis) - began)
      if (this.restMillis > 0) yield* Effect.sleep(this.restMillis)
      return done
    })
  }
}
