/**
 * Limits concurrent reads to the number of connections. One object gets no more than a share of them, so that however
 * many callers query one slow table, readers of others find a free slot. Reads that may run a customer's functions have a
 * share of their own, and each such object a smaller one: neither one view nor all of them leave the tables without a
 * slot.
 */
import type { TimerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Effect, type Exit } from "effect"

/** A number of slots; a caller that finds none free waits in line. */
class Semaphore {
  #free: number
  #calling = false
  /** Not a Set: a Set keeps its removed entries alive (see core's LiveSet). */
  readonly #line: Array<() => void> = []

  constructor(places: number) {
    this.#free = places
  }

  /** Takes a slot if one is free; returns whether it did. None is free while anybody waits. */
  tryAcquire(): boolean {
    if (this.#free === 0) return false
    this.#free--
    return true
  }

  /** Calls `go` once a slot has been taken for it. The returned function leaves the line instead. */
  wait(go: () => void): () => void {
    this.#line.push(go)
    return () => {
      const place = this.#line.indexOf(go)
      if (place !== -1) this.#line.splice(place, 1)
    }
  }

  /** A callee may finish at once and release within its own call: the loop that is already running calls the next one. */
  release(): void {
    this.#free++
    if (this.#calling) return
    this.#calling = true
    while (this.#line.length > 0 && this.tryAcquire()) this.#line.shift()!()
    this.#calling = false
  }
}

interface Slot {
  readonly places: Semaphore
  users: number
}

/** The read that needs a slot. */
export interface TurnOf {
  readonly object: string
  /** False for a read that may run a customer's functions. */
  readonly runsNoUserCode: boolean
}

export interface ReadLimits {
  /** Maximum number of reads in flight, in total and per object. */
  readonly places: number
  readonly share: number
  /** The same for reads that may run a customer's functions. */
  readonly apart: { readonly places: number; readonly share: number }
  /** Maximum time in line, in milliseconds. */
  readonly queueTimeoutMillis: number
  readonly ends: TimerWheel
}

export class ReadLimiter {
  readonly #limits: ReadLimits
  readonly #places: Semaphore
  readonly #apart: Semaphore
  readonly #turns = new Map<string, Slot>()

  constructor(limits: ReadLimits) {
    this.#limits = limits
    this.#places = new Semaphore(limits.places)
    this.#apart = new Semaphore(limits.apart.places)
  }

  /** Runs `work` once it has its slots; fails with `late` if that takes longer than the queue timeout. */
  acquire<A, E, R, L>(of: TurnOf, late: Exit.Exit<never, L>, work: Effect.Effect<A, E, R>) {
    return Effect.uninterruptibleMask((restore): Effect.Effect<A, E | L, R> => {
      const key = of.runsNoUserCode ? of.object : `apart ${of.object}`
      const turn = this.#enter(key, of.runsNoUserCode)
      const held: Array<Semaphore> = []
      // Most reads find a free slot and do not wait.
      const take = (places: Semaphore) =>
        Effect.map(
          places.tryAcquire() ? Effect.void : restore(this.#inLine(places, late)),
          () => void held.push(places),
        )
      const leave = Effect.sync(() => {
        this.#leave(key, turn)
        for (const places of held) places.release()
      })
      const first = of.runsNoUserCode ? take(turn.places) : Effect.flatMap(take(turn.places), () => take(this.#apart))
      return first.pipe(
        Effect.flatMap(() => take(this.#places)),
        Effect.flatMap(() => restore(work)),
        Effect.ensuring(leave),
      )
    })
  }

  #inLine<L>(places: Semaphore, late: Exit.Exit<never, L>): Effect.Effect<void, L> {
    const { ends, queueTimeoutMillis } = this.#limits
    return Effect.callback((resume) => {
      const leaveLine = places.wait(() => {
        stopWatch()
        resume(Effect.void)
      })
      const stopWatch = ends.watch({
        deadline: ends.now() + queueTimeoutMillis,
        expire: () => {
          leaveLine()
          resume(late)
        },
      })
      return Effect.sync(() => {
        leaveLine()
        stopWatch()
      })
    })
  }

  #enter(key: string, runsNoUserCode: boolean): Slot {
    const { share } = runsNoUserCode ? this.#limits : this.#limits.apart
    const turn = this.#turns.get(key) ?? { places: new Semaphore(share), users: 0 }
    turn.users++
    this.#turns.set(key, turn)
    return turn
  }

  #leave(key: string, turn: Slot): void {
    turn.users--
    if (turn.users === 0) this.#turns.delete(key)
  }
}
