/** A cabinet's requests and calls in flight: closing refuses new ones, and waits for those that have begun. */
import { setMaxListeners } from "node:events"

/** Counts the calls that are running, so that closing can wait for them. */
export class InFlight {
  readonly #closing = new AbortController()
  readonly #broken = new AbortController()
  readonly #things = new Set<{ readonly breakOff: () => void }>()
  #idle: (() => void) | undefined

  constructor() {
    // Each call and each follower adds a listener, so many listeners are no leak.
    setMaxListeners(0, this.#closing.signal, this.#broken.signal)
  }

  get isClosing(): boolean {
    return this.#closing.signal.aborted
  }

  /** Aborted when closing begins: for callers that only wait. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Aborted when the grace period is over. */
  get broken(): AbortSignal {
    return this.#broken.signal
  }

  /**
   * Registers a piece of work. Call the returned function when it is done; repeated calls do no harm. `breakOff` is called
   * when the grace period is over.
   */
  begin(breakOff: () => void = () => {}): () => void {
    const thing = { breakOff }
    this.#things.add(thing)
    return () => {
      if (this.#things.delete(thing) && this.#things.size === 0) this.#idle?.()
    }
  }

  /** Resolves when nothing is in flight, or when the grace period is over and the rest has been aborted. */
  async close(graceMillis: number): Promise<void> {
    this.#closing.abort()
    if (this.#things.size === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, graceMillis)
      this.#idle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#idle = undefined
    this.#broken.abort()
    for (const { breakOff } of this.#things) breakOff()
  }
}
