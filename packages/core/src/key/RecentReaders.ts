/**
 * The readers whose last request was admitted within the last seconds. Their next page is read while the request's own
 * check runs. Nothing here replaces that check: a reader whose last request was refused is forgotten.
 *
 * Decision: docs/decisions/0096-a-page-is-read-beside-the-check-of-its-key.md
 */

/** How long a reader is kept after its last admitted request, in milliseconds. */
export const RECENT_MILLIS = 5_000

/** With more readers than this, the one whose last request is longest ago is forgotten. */
export const MAX_RECENT_READERS = 1_000

export class RecentReaders {
  /** When the last request of each fingerprint was admitted, the oldest first. */
  readonly #admitted = new Map<string, number>()

  has(fingerprint: Uint8Array, now: number): boolean {
    const at = this.#admitted.get(nameOf(fingerprint))
    return at !== undefined && now - at < RECENT_MILLIS
  }

  /** Keeps the outcome of a reader's last request. */
  note(fingerprint: Uint8Array, isAdmitted: boolean, now: number): void {
    const name = nameOf(fingerprint)
    this.#admitted.delete(name)
    if (!isAdmitted) return
    this.#admitted.set(name, now)
    if (this.#admitted.size > MAX_RECENT_READERS) this.#admitted.delete(this.#admitted.keys().next().value!)
  }
}

const nameOf = (fingerprint: Uint8Array): string => Buffer.from(fingerprint).toString("latin1")
