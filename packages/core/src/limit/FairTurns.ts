/**
 * Runs work one at a time, with bounded queues. Groups take turns, so that a group that fills its queue delays the
 * others by one turn each. When the queues are full, a group with few waiting callers displaces the newest caller of
 * the largest group. A client, such as an address, has its own bound across all groups.
 */
import { Deferred, Effect } from "effect"

interface Waiter {
  readonly group: unknown
  readonly client: string
  /** False for a caller that was displaced. */
  readonly turn: Deferred.Deferred<boolean>
}

/** The most callers that may wait or run. */
export interface QueueLimits {
  readonly ofClient: number
  readonly ofGroup: number
  readonly total: number
}

export class FairTurns {
  readonly #limits: QueueLimits
  /** In the order of their next turns. */
  readonly #queues = new Map<unknown, Array<Waiter>>()
  readonly #ofClient = new Map<string, number>()
  #waiting = 0
  #running: Waiter | null = null

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  /** Runs `work` in its turn; fails with `refused` if the queue is full. */
  run<A, E, R, F>(
    group: unknown,
    client: string,
    work: Effect.Effect<A, E, R>,
    refused: F,
  ): Effect.Effect<A, E | F, R> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.suspend((): Effect.Effect<A, E | F, R> => {
        const waiter = this.#enter(group, client)
        if (waiter === null) return Effect.fail(refused)
        const left = Effect.sync(() => this.#leave(waiter))
        const granted = Effect.onInterrupt(restore(Deferred.await(waiter.turn)), () => left)
        return Effect.flatMap(granted, (isGranted): Effect.Effect<A, E | F, R> =>
          isGranted ? Effect.ensuring(restore(work), left) : Effect.fail(refused),
        )
      }),
    )
  }

  #enter(group: unknown, client: string): Waiter | null {
    const { ofClient, ofGroup } = this.#limits
    const own = this.#ofClient.get(client) ?? 0
    if (own >= ofClient || this.#size(group) >= ofGroup || !this.#makeRoom(group)) return null
    const waiter: Waiter = { group, client, turn: Deferred.makeUnsafe() }
    const queue = this.#queues.get(group)
    if (queue === undefined) this.#queues.set(group, [waiter])
    else queue.push(waiter)
    this.#ofClient.set(client, own + 1)
    this.#waiting++
    this.#next()
    return waiter
  }

  #size(group: unknown): number {
    return (this.#queues.get(group)?.length ?? 0) + (this.#running?.group === group ? 1 : 0)
  }

  #makeRoom(group: unknown): boolean {
    if (this.#waiting + (this.#running === null ? 0 : 1) < this.#limits.total) return true
    const largest = [...this.#queues.values()].reduce((one, other) => (other.length > one.length ? other : one), [])
    if (largest.length <= (this.#queues.get(group)?.length ?? 0) + 1) return false
    const displaced = largest.at(-1)!
    this.#leave(displaced)
    Deferred.doneUnsafe(displaced.turn, Effect.succeed(false))
    return true
  }

  #next(): void {
    if (this.#running !== null) return
    const [first] = this.#queues
    if (first === undefined) return
    const [group, queue] = first
    const waiter = queue.shift()!
    this.#queues.delete(group)
    if (queue.length > 0) this.#queues.set(group, queue)
    this.#waiting--
    this.#running = waiter
    Deferred.doneUnsafe(waiter.turn, Effect.succeed(true))
  }

  /** Has no effect if the caller has left already. */
  #leave(waiter: Waiter): void {
    const { group, client } = waiter
    if (this.#running === waiter) this.#running = null
    else {
      const queue = this.#queues.get(group)
      const at = queue?.indexOf(waiter) ?? -1
      if (queue === undefined || at < 0) return
      queue.splice(at, 1)
      if (queue.length === 0) this.#queues.delete(group)
      this.#waiting--
    }
    const left = this.#ofClient.get(client)! - 1
    if (left === 0) this.#ofClient.delete(client)
    else this.#ofClient.set(client, left)
    this.#next()
  }
}
