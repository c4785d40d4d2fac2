/**
 * Measures the phases of one request: what it does at any time is one of them, so that together they are the whole. A
 * phase that is entered twice, because the request was sent again, has the sum.
 */
import { NO_TIMING, type Timing } from "@data-cabinet/core/delivery/Attempt"

type Phase = keyof Timing

export class PhaseClock {
  readonly #now: () => number
  readonly #spent: { -readonly [phase in Phase]: number | null } = { ...NO_TIMING }
  #phase: Phase | null = null
  #entered = 0

  /** `now`: milliseconds of a clock that is never set back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Ends the current phase. */
  enter(phase: Phase): void {
    if (phase === this.#phase) return
    this.#leave()
    this.#phase = phase
  }

  /** In whole milliseconds. The phase that the end cut off has the time until then; nothing may be entered afterwards. */
  end(): Timing {
    this.#leave()
    this.#phase = null
    const whole = (millis: number | null) => (millis === null ? null : Math.round(millis))
    const { nameMs, connectMs, tlsMs, waitMs, bodyMs } = this.#spent
    return {
      nameMs: whole(nameMs),
      connectMs: whole(connectMs),
      tlsMs: whole(tlsMs),
      waitMs: whole(waitMs),
      bodyMs: whole(bodyMs),
    }
  }

  #leave(): void {
    const now = this.#now()
    if (this.#phase !== null) this.#spent[this.#phase] = (this.#spent[this.#phase] ?? 0) + now - this.#entered
    this.#entered = now
  }
}
