/**
 * Counts wrong credentials by client address and minute, in this process. An address that sent too many is refused
 * without a query, so that guessing neither succeeds nor costs others anything. Its memory is bounded: beyond that many
 * addresses in one minute, the others share one count.
 */
import { rateSubject } from "./RateSubject.ts"

const MINUTE_MILLIS = 60_000
const MAX_ADDRESSES = 10_000
const OTHERS = "others"

export class WrongCredentials {
  readonly #limit: number
  /** Both restart with each minute of the clock. */
  #minute = 0
  #counts = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Seconds until credentials of this address are checked again; null if they are checked now. */
  retryAfter(ip: string | null, now: number): number | null {
    const minute = this.#in(now)
    if ((this.#counts.get(this.#subject(ip)) ?? 0) < this.#limit) return null
    return Math.max(1, Math.ceil(((minute + 1) * MINUTE_MILLIS - now) / 1000))
  }

  count(ip: string | null, now: number): void {
    this.#in(now)
    const subject = this.#subject(ip)
    this.#counts.set(subject, (this.#counts.get(subject) ?? 0) + 1)
  }

  #in(now: number): number {
    const minute = Math.floor(now / MINUTE_MILLIS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#counts = new Map()
    }
    return minute
  }

  #subject(ip: string | null): string {
    const subject = ip === null ? OTHERS : rateSubject(ip)
    return this.#counts.size < MAX_ADDRESSES || this.#counts.has(subject) ? subject : OTHERS
  }
}
