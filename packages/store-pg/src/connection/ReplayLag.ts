/**
 * Measures the lag of a standby by this process's own clock. A time is paired with the position that the primary's log
 * had reached after it. Once the standby has replayed that position, everything committed before that time is visible
 * there. So the age of the newest such time bounds what a read on the standby can miss, and it grows by itself while
 * nobody checks. An idle primary, whose log does not advance, causes no lag.
 */
export class ReplayLag {
  /** Times whose position the standby has not been seen to reach, oldest first. */
  readonly #ahead: Array<{ readonly at: number; readonly place: number }> = []
  #reached = Number.NEGATIVE_INFINITY

  /** At `at` milliseconds or later the primary's log ended at `place`, in bytes. */
  primaryAt(at: number, place: number): void {
    this.#ahead.push({ at, place })
    // Half of an hour's samples are as good as all of them.
    if (this.#ahead.length > 3600) this.#ahead.splice(1, 1)
  }

  /** The standby has replayed the log up to `place`. */
  replayed(place: number): void {
    const left = this.#ahead.findIndex((moment) => moment.place > place)
    const reached = this.#ahead.splice(0, left === -1 ? this.#ahead.length : left).at(-1)
    if (reached !== undefined) this.#reached = Math.max(this.#reached, reached.at)
  }

  /** Discards all samples: another server, or none, is there now. */
  forget(): void {
    this.#ahead.length = 0
    this.#reached = Number.NEGATIVE_INFINITY
  }

  /** The lag in milliseconds; infinite while unknown. */
  at(now: number): number {
    return now - this.#reached
  }
}
