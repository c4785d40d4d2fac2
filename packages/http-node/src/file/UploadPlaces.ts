/**
 * Limits the uploads that a cabinet accepts at once in this process. No token takes all slots, however slow its uploads
 * are.
 */
import { Effect, Option } from "effect"

export class UploadPlaces {
  readonly mostOfToken: number
  readonly #atOnce: number
  readonly #held = new Map<number, number>()

  constructor(atOnce: number) {
    this.#atOnce = atOnce
    this.mostOfToken = Math.max(1, atOnce - 2)
  }

  /** Runs the work in a slot; none if the token or the cabinet has no free slot. */
  run<A, E>(tokenId: number, work: Effect.Effect<A, E>): Effect.Effect<Option.Option<A>, E> {
    return Effect.acquireUseRelease(
      Effect.sync(() => this.#take(tokenId)),
      (isTaken) => (isTaken ? Effect.map(work, Option.some) : Effect.succeedNone),
      (isTaken) => Effect.sync(() => isTaken && this.#leave(tokenId)),
    )
  }

  #take(tokenId: number): boolean {
    const own = this.#held.get(tokenId) ?? 0
    const all = [...this.#held.values()].reduce((sum, count) => sum + count, 0)
    if (own >= this.mostOfToken || all >= this.#atOnce) return false
    this.#held.set(tokenId, own + 1)
    return true
  }

  #leave(tokenId: number): void {
    const left = this.#held.get(tokenId)! - 1
    if (left === 0) this.#held.delete(tokenId)
    else this.#held.set(tokenId, left)
  }
}
