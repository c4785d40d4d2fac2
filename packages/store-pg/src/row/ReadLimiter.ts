/**
 * Limits concurrent reads to the number of connections. One object gets no more than a share of them, so that however
 * many callers query one slow table, readers of others find a free slot. Reads that may run a customer's functions have
 * a share of their own, and each such object a smaller one: neither one view nor all of them leave the tables without a
 * slot.
 *
 * A slot represents a session of the database, so it is kept as long as that: even after the caller got its result at
 * the deadline, while an unstoppable function still runs.
 *
 * Decision: docs/decisions/0009-limits-of-a-read.md
 */
import type { TimerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import type { AbortableCall } from "@data-cabinet/core/runtime/AbortableCall"

/** A number of slots; a caller that finds none free waits in line. */
class Semaphore {
  #free: number
  #calling = false
  /** Not a Set: a Set keeps its removed entries alive (see core's LiveSet). */
  readonly #line: Array<() => void> = []

  constructor(places: number) {
    this.#free = places
  }

  get isFree(): boolean {
    return this.#free > 0
  }

  /** Takes a slot if one is free; returns whether it did. None is free while any read waits. */
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

interface ObjectSlots {
  readonly places: Semaphore
  users: number
}

/** The read that needs a slot. */
export interface SlotRequest {
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
  /** Maximum time in each line, in milliseconds. */
  readonly queueTimeoutMillis: number
  readonly ends: TimerWheel
}

/** The slots of a read that has begun. */
export interface HeldSlots {
  /** Keeps the slots until this settles, although the read has returned. Called before the read's promise settles. */
  readonly hold: (until: Promise<unknown>) => void
}

/** The slots of one read, which takes them one after the other. */
class Slots implements HeldSlots {
  readonly #needed: ReadonlyArray<Semaphore>
  readonly #left: () => void
  #held = 0
  /** The read itself, and what else holds its slots. */
  #holds = 1

  constructor(needed: ReadonlyArray<Semaphore>, left: () => void) {
    this.#needed = needed
    this.#left = left
  }

  /** Takes those that are free; returns the first that is not. */
  take(): Semaphore | undefined {
    for (; this.#held < this.#needed.length; this.#held++) {
      const next = this.#needed[this.#held]!
      if (!next.tryAcquire()) return next
    }
    return undefined
  }

  /** The awaited slot has been taken. */
  taken(): void {
    this.#held++
  }

  hold(until: Promise<unknown>): void {
    this.#holds++
    const release = () => this.release()
    void until.then(release, release)
  }

  release(): void {
    if (--this.#holds > 0) return
    this.#left()
    while (this.#held > 0) this.#needed[--this.#held]!.release()
  }
}

export class ReadLimiter {
  readonly #limits: ReadLimits
  readonly #places: Semaphore
  readonly #apart: Semaphore
  readonly #objects = new Map<string, ObjectSlots>()

  constructor(limits: ReadLimits) {
    this.#limits = limits
    this.#places = new Semaphore(limits.places)
    this.#apart = new Semaphore(limits.apart.places)
  }

  /** Whether a read would begin at once. */
  isFree({ object, runsNoUserCode }: SlotRequest): boolean {
    const its = this.#objects.get(keyOf(object, runsNoUserCode))
    return this.#places.isFree && (runsNoUserCode || this.#apart.isFree) && (its === undefined || its.places.isFree)
  }

  /**
   * Runs `work` once it has its slots, until its promise settles and nothing holds them. Returns `late` if that takes longer
   * than the queue timeout, or if the call is aborted before.
   */
  async run<A>(of: SlotRequest, call: AbortableCall, late: A, work: (slots: HeldSlots) => Promise<A>): Promise<A> {
    const slots = this.#slots(of)
    try {
      const busy = slots.take()
      // Most reads find a free slot and do not wait.
      if (busy !== undefined && !(await this.#wait(slots, busy, call))) return late
      return await work(slots)
    } finally {
      slots.release()
    }
  }

  /** Returns whether it has all its slots. */
  #wait(slots: Slots, busy: Semaphore, call: AbortableCall): Promise<boolean> {
    const { ends, queueTimeoutMillis } = this.#limits
    return new Promise((resolve) => {
      let leaveLine = () => {}
      let stopWatch = () => {}
      let stopListening = () => {}
      const settle = (hasAll: boolean) => {
        stopWatch()
        stopListening()
        resolve(hasAll)
      }
      const giveUp = () => {
        leaveLine()
        settle(false)
      }
      const enter = (line: Semaphore) => {
        stopWatch = ends.watch({ deadline: ends.now() + queueTimeoutMillis, expire: giveUp })
        leaveLine = line.wait(() => {
          stopWatch()
          slots.taken()
          const next = slots.take()
          if (next === undefined) settle(true)
          else enter(next)
        })
      }
      enter(busy)
      stopListening = call.onAbort(giveUp)
    })
  }

  #slots({ object, runsNoUserCode }: SlotRequest): Slots {
    const { share } = runsNoUserCode ? this.#limits : this.#limits.apart
    const key = keyOf(object, runsNoUserCode)
    const its = this.#objects.get(key) ?? { places: new Semaphore(share), users: 0 }
    its.users++
    this.#objects.set(key, its)
    return new Slots(runsNoUserCode ? [its.places, this.#places] : [its.places, this.#apart, this.#places], () => {
      its.users--
      if (its.users === 0) this.#objects.delete(key)
    })
  }
}

const keyOf = (object: string, runsNoUserCode: boolean): string => (runsNoUserCode ? object : `apart ${object}`)
