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
/** The growth of a window per delivery past the usual maximum: an eighth a round. */
const WIDER = 0.125
/** An address is as quick as before while it takes no more than this many times its least average, and these milliseconds. */
const AS_QUICK = 1.5
const AS_QUICK_MILLIS = 20
/**
 * An address gets more than the usual maximum in flight only until it takes this many in a millisecond. With quicker
 * responses a larger window delivers no more, and costs a worker a third more CPU: more connections take
 * turns, and less is written at once.
 */
const ENOUGH_PER_MILLI = 2
/** The least average is forgotten by and by: a receiver may have moved farther away. */
const FORGOTTEN = 1.001

/** `refused`: the address responded, but not with a 2xx. */
export type Fate = "delivered" | "refused" | "unanswered"

export class AdaptiveWindow {
  slow = 0
  last: number
  readonly #limits: LaneLimits
  #waiting: Array<Claimed> = []
  #since = 0
  #running = 0
  readonly #isRoomy: () => boolean
  /** How many may be in flight; a fraction counts as nothing. */
  #window: number
  #ahead = 0
  /** Refusals halve the window once a round: of as many attempts as were in flight at the last halving, all have ended. */
  #untilHalving = 0
  /** The average duration of recent deliveries. */
  #millis = 0
  #leastMillis = Infinity
  #bytes = 0

  constructor(limits: LaneLimits, now: number, isRoomy: () => boolean = () => false) {
    this.#isRoomy = isRoomy
    this.#limits = limits
    this.#window = limits.window
    this.last = now
  }

  get held(): number {
    return this.#running + this.#waiting.length
  }

  /** The window as it counts now. */
  get #open(): number {
    const { maxWindow } = this.#limits
    return Math.floor(this.#window <= maxWindow || this.#isRoomy() ? this.#window : maxWindow)
  }

  get room(): number {
    return this.slow > 0 ? 0 : Math.max(0, this.#open + this.#ahead - this.held)
  }

  get aheadRoom(): number {
    return this.slow > 0 ? 0 : Math.max(0, this.#ahead - this.#waiting.length)
  }

  get hasRoom(): boolean {
    return this.held <= (this.#open + this.#ahead) / 2
  }

  /** Deliveries wait in the order in which they may be sent. */
  ready(now: number): boolean {
    if (this.#waiting.length === 0 || this.slow > 0 || this.#running >= this.#open) return false
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

  /** True when the deliveries that wait should be given back. */
  end(seen: { fate: Fate; slow: boolean; bytes: number; millis: number }, now: number): boolean {
    this.#running--
    this.last = now
    if (seen.slow) this.slow--
    const mayHalve = this.#untilHalving === 0
    if (!mayHalve) this.#untilHalving--
    if (seen.fate === "unanswered" || seen.slow) {
      this.#window = 1
      this.#ahead = 0
      return seen.fate !== "delivered"
    }
    if (seen.fate === "refused") return this.#refused(mayHalve)
    this.#millis = this.#millis === 0 ? seen.millis : this.#millis + (seen.millis - this.#millis) * NEWEST_WEIGHT
    this.#bytes += (seen.bytes - this.#bytes) * NEWEST_WEIGHT
    this.#widen()
    const quick = (this.#window * AHEAD_MILLIS) / Math.max(1, this.#millis)
    const small = AHEAD_BYTES / Math.max(1, this.#bytes)
    this.#ahead = this.#window < this.#limits.maxWindow ? 0 : Math.floor(Math.min(this.#limits.ahead, quick, small))
    return false
  }

  /** Waiting deliveries are kept as long as some of them will be sent soon. */
  #refused(mayHalve: boolean): boolean {
    if (mayHalve) {
      this.#window = Math.max(1, this.#window / 2)
      this.#ahead = 0
      this.#untilHalving = this.#running
    }
    return this.#window < 2
  }

  #widen(): void {
    const { maxWindow, wideWindow } = this.#limits
    if (this.#window < maxWindow) {
      this.#window = Math.min(this.#window + 1, maxWindow)
      return
    }
    this.#leastMillis = Math.min(this.#leastMillis * FORGOTTEN, this.#millis)
    const isQuick = this.#millis <= this.#leastMillis * AS_QUICK + AS_QUICK_MILLIS
    const most = isQuick ? Math.min(this.#millis * ENOUGH_PER_MILLI, wideWindow) : maxWindow
    this.#window = Math.max(maxWindow, this.#window + (this.#window < most ? WIDER : -WIDER))
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
