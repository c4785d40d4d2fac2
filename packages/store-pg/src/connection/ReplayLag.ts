/**
 * How far a standby is behind, by this process' own clock. A moment is paired with the place that the primary's log had
 * reached after it; once the standby has replayed that place, all that was committed before the moment is to be seen
 * there. So the age of the newest such moment bounds what a read on the standby can miss, and it grows by itself while
 * nobody looks. An idle primary, whose log stands still, makes no lag.
 */
export class ReplayLag {
  /** Moments the standby has not been seen to reach, oldest first. */
  readonly #ahead: Array<{ readonly at: number; readonly place: number }> = []
  #reached = Number.NEGATIVE_INFINITY

  /** At `at` milliseconds or later the primary's log ended at `place`, in bytes. */
  primaryAt(at: number, place: number): void {
    this.#ahead.push({ at, place })
    // Half of an hour's moments tell as much as all.
    if (this.#ahead.length > 3600) this.#ahead.splice(1, 1)
  }

  /** The standby has replayed the log up to `place`. */
  replayed(place: number): void {
    const left = this.#ahead.findIndex((moment) => moment.place > place)
    const reached = this.#ahead.splice(0, left === -1 ? this.#ahead.length : left).at(-1)
    if (reached !== undefined) this.#reached = Math.max(this.#reached, reached.at)
  }

  /** All that was known is of no use any more: another server, or none, is there now. */
  forget(): void {
    this.#ahead.length = 0
    this.#reached = Number.NEGATIVE_INFINITY
  }

  /** Milliseconds; infinite while nothing is known. */
  at(now: number): number {
    return now - this.#reached
  }
}
