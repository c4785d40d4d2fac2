/** What a cabinet has under way, requests and calls alike: closing lets none begin, and waits for those that have. */
import { setMaxListeners } from "node:events"

export class InFlight {
  readonly #closing = new AbortController()
  readonly #broken = new AbortController()
  readonly #things = new Set<{ readonly breakOff: () => void }>()
  #idle: (() => void) | undefined

  constructor() {
    // One for each call and each follower is no leak.
    setMaxListeners(0, this.#closing.signal, this.#broken.signal)
  }

  get isClosing(): boolean {
    return this.#closing.signal.aborted
  }

  /** Aborted when closing begins: for what waits without doing anything. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Aborted when the time for finishing is over. */
  get broken(): AbortSignal {
    return this.#broken.signal
  }

  /** One thing more. The answer is called when it is done, and may be called again; `breakOff` when its time is over. */
  begin(breakOff: () => void = () => {}): () => void {
    const thing = { breakOff }
    this.#things.add(thing)
    return () => {
      if (this.#things.delete(thing) && this.#things.size === 0) this.#idle?.()
    }
  }

  /** Resolves when nothing is under way any more, or when the time is over and the rest was broken off. */
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
