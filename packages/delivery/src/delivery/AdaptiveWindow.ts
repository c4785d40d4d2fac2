/** One address in a lane: its deliveries in flight, its waiting ones, and the size of its window so far. */
import type { Claimed } from "@data-cabinet/core/delivery/DeliveryQueue"
import type { LaneLimits } from "./Lane.ts"

/** Claims no more ahead than the address takes in about this time, nor more than this many bytes. */
const AHEAD_MILLIS = 100
const AHEAD_BYTES = 4_194_304
/** A delivery that waited this long is given back, well before its lease ends. */
const STALE_MILLIS = 5000
/** The weight of the newest delivery in the averages. */
const NEWEST_WEIGHT = 0.1

export class AdaptiveWindow {
  slow = 0
  last: number
  readonly #limits: LaneLimits
  #waiting: Array<Claimed> = []
  #since = 0
  #running = 0
  #window: number
  #ahead = 0
  /** The average duration of recent deliveries. */
  #millis = 0
  #bytes = 0

  constructor(limits: LaneLimits, now: number) {
    this.#limits = limits
    this.#window = limits.window
    this.last = now
  }

  get held(): number {
    return this.#running + this.#waiting.length
  }

  get room(): number {
    return this.slow > 0 ? 0 : Math.max(0, this.#window + this.#ahead - this.held)
  }

  get aheadRoom(): number {
    return this.slow > 0 ? 0 : Math.max(0, this.#ahead - this.#waiting.length)
  }

  get hasRoom(): boolean {
    return this.held <= (this.#window + this.#ahead) / 2
  }

  /** Deliveries wait in the order in which they may be sent. */
  ready(now: number): boolean {
    if (this.#waiting.length === 0 || this.slow > 0 || this.#running >= this.#window) return false
    return (this.#waiting[0]!.notBeforeMillis ?? now) <= now
  }

  wait(delivery: Claimed, now: number): void {
    if (this.#waiting.length === 0) this.#since = now
    this.#waiting.push(delivery)
    this.last = now
  }

  /** Call it only when the address is `ready`: then the first may be sent. */
  begin(now: number): Claimed {
    this.#running++
    this.#since = now
    return this.#waiting.shift()!
  }

  end(seen: { delivered: boolean; slow: boolean; bytes: number; millis: number }, now: number): void {
    this.#running--
    this.last = now
    if (seen.slow) this.slow--
    if (!seen.delivered || seen.slow) {
      this.#window = 1
      this.#ahead = 0
      return
    }
    this.#millis += (seen.millis - this.#millis) * NEWEST_WEIGHT
    this.#bytes += (seen.bytes - this.#bytes) * NEWEST_WEIGHT
    this.#window = Math.min(this.#window + 1, this.#limits.maxWindow)
    const quick = (this.#window * AHEAD_MILLIS) / Math.max(1, this.#millis)
    const small = AHEAD_BYTES / Math.max(1, this.#bytes)
    this.#ahead = this.#window < this.#limits.maxWindow ? 0 : Math.floor(Math.min(this.#limits.ahead, quick, small))
  }

  /** Whether the waiting deliveries should be given back. */
  stuck(now: number): boolean {
    return this.#waiting.length > 0 && (this.slow > 0 || now - this.#since > STALE_MILLIS)
  }

  giveUp(): ReadonlyArray<Claimed> {
    const waiting = this.#waiting
    this.#waiting = []
    return waiting
  }
}
