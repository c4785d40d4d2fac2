/**
 * Buffers for pages of the feed. Those of pages that were sent are used again: V8 counts the bytes of a buffer that
 * outlives a collection or two as old, and under load it then collected all old objects several times a second, for a
 * quarter of the CPU of a page of 1,000 events.
 */

/** The most bytes that are reserved before any event has arrived. */
const MAX_INITIAL_BYTES = 1024 * 1024

/** How many buffers wait for a page, at most, and how long one may be. */
const MOST_KEPT = 4
const MOST_KEPT_BYTES = 1.25 * MAX_INITIAL_BYTES

export class PageBuffers {
  /** The usual length of an event in bytes, from the last full page. */
  eventBytes: number
  readonly #kept: Array<Buffer> = []

  constructor(eventBytes = 512) {
    this.eventBytes = eventBytes
  }

  /** A buffer for so many events and these bytes around them. Its content is arbitrary. */
  take(events: number, around: number): Buffer {
    const expected = events * (this.eventBytes + (this.eventBytes >> 3))
    const bytes = around + Math.min(expected, MAX_INITIAL_BYTES)
    const index = this.#kept.findIndex((buffer) => buffer.length >= bytes)
    return index < 0 ? Buffer.allocUnsafeSlow(bytes) : this.#kept.splice(index, 1)[0]!
  }

  /** Takes back a buffer that nothing uses any more. */
  readonly give = (buffer: Buffer): void => {
    if (buffer.length > MOST_KEPT_BYTES) return
    this.#kept.push(buffer)
    if (this.#kept.length > MOST_KEPT) this.#kept.shift()
  }
}
