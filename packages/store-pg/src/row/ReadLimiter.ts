/**
 * Limits concurrent reads to the number of connections. One object gets only a share of them, so that many callers of one
 * slow table leave slots for readers of other tables. Reads that may run a customer's functions share a separate, smaller
 * part, and each such object gets a part of that. So views never leave the tables without a slot.
 *
 * A slot stands for a database session and is held as long as the session works. This may be longer than the caller
 * waits, if a function cannot be stopped at the deadline.
 *
 * Decision: docs/decisions/0009-limits-of-a-read.md
 */
import type { TimerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import type { AbortableCall } from "@data-cabinet/core/runtime/AbortableCall"

/** A number of slots; callers queue while none is free. */
class Semaphore {
  #free: number
  #calling = false
  /** Not a Set, because a Set keeps removed entries alive (see core's LiveSet). */
  readonly #line: Array<() => void> = []

  constructor(slots: number) {
    this.#free = slots
  }

  get isFree(): boolean {
    return this.#free > 0
  }

  /** Takes a slot if one is free, and returns whether it did. No slot is free while any read waits. */
  tryAcquire(): boolean {
    if (this.#free === 0) return false
    this.#free--
    return true
  }

  /** Calls `go` once it has a slot. The returned function leaves the queue. */
  wait(go: () => void): () => void {
    this.#line.push(go)
    return () => {
      const place = this.#line.indexOf(go)
      if (place !== -1) this.#line.splice(place, 1)
    }
  }

  /** Releases a slot. A callee may release within its own call; the loop that is already running then calls the next one. */
  release(): void {
    this.#free++
    if (this.#calling) return
    this.#calling = true
    while (this.#line.length > 0 && this.tryAcquire()) this.#line.shift()!()
    this.#calling = false
  }
}

interface ObjectSlots {
  readonly slots: Semaphore
  users: number
}

/** How a read describes itself to get a slot. */
export interface SlotRequest {
  readonly object: string
  /** False for a read that may run a customer's functions. */
  readonly runsNoUserCode: boolean
}

export interface ReadLimits {
  /** Maximum number of reads in flight, in total and per object. */
  readonly slots: number
  readonly share: number
  /** The same for reads that may run a customer's functions. */
  readonly isolated: { readonly slots: number; readonly share: number }
  /** Maximum time in each queue, in milliseconds. */
  readonly queueTimeoutMillis: number
  readonly wheel: TimerWheel
}

/** The slots of a running read. */
export interface HeldSlots {
  /** Holds the slots until this settles, even after the read has returned. Call it before the read's promise settles. */
  readonly hold: (until: Promise<unknown>) => void
}

/** The slots of one read, taken one after the other. */
class Slots implements HeldSlots {
  readonly #needed: ReadonlyArray<Semaphore>
  readonly #left: () => void
  #held = 0
  /** How many hold the slots: the read itself, and each `hold`. */
  #holds = 1

  constructor(needed: ReadonlyArray<Semaphore>, left: () => void) {
    this.#needed = needed
    this.#left = left
  }

  /** Takes slots while they are free; returns the first semaphore without a free one. */
  take(): Semaphore | undefined {
    for (; this.#held < this.#needed.length; this.#held++) {
      const next = this.#needed[this.#held]!
      if (!next.tryAcquire()) return next
    }
    return undefined
  }

  /** Records that the awaited slot has been taken. */
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
  readonly #total: Semaphore
  readonly #isolated: Semaphore
  readonly #objects = new Map<string, ObjectSlots>()

  constructor(limits: ReadLimits) {
    this.#limits = limits
    this.#total = new Semaphore(limits.slots)
    this.#isolated = new Semaphore(limits.isolated.slots)
  }

  /** Whether a read would begin at once. */
  isFree({ object, runsNoUserCode }: SlotRequest): boolean {
    const its = this.#objects.get(keyOf(object, runsNoUserCode))
    return this.#total.isFree && (runsNoUserCode || this.#isolated.isFree) && (its === undefined || its.slots.isFree)
  }

  /**
   * Runs `work` once it has its slots, which it keeps until its promise settles and nothing holds them. Returns `late` if
   * they take longer than the queue timeout, or if the call is aborted before.
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

  /** Waits for the missing slots; returns whether the read has all of them. */
  #wait(slots: Slots, busy: Semaphore, call: AbortableCall): Promise<boolean> {
    const { wheel, queueTimeoutMillis } = this.#limits
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
        stopWatch = wheel.watch({ deadline: wheel.now() + queueTimeoutMillis, expire: giveUp })
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
    const { share } = runsNoUserCode ? this.#limits : this.#limits.isolated
    const key = keyOf(object, runsNoUserCode)
    const its = this.#objects.get(key) ?? { slots: new Semaphore(share), users: 0 }
    its.users++
    this.#objects.set(key, its)
    return new Slots(runsNoUserCode ? [its.slots, this.#total] : [its.slots, this.#isolated, this.#total], () => {
      its.users--
      if (its.users === 0) this.#objects.delete(key)
    })
  }
}

const keyOf = (object: string, runsNoUserCode: boolean): string => (runsNoUserCode ? object : `isolated ${object}`)
