/**
 * How much may be under way at once: in all, in bytes, and for each address. A lane holds numbers only; the loop asks it
 * before it claims, and tells it what began and what ended.
 *
 * What has been under way for a second is slow: it gives its place back, so that receivers that hang cannot fill the
 * lane, and its address gets no further request meanwhile. An address begins with two at once and earns more with each
 * quick delivery.
 */
import type { Claimed, Lane as LaneName } from "@data-cabinet/core/delivery/DeliveryQueue"

export interface LaneLimits {
  /** Under way at once, the slow ones not counted. */
  readonly slots: number
  /** Slow ones at once; past that they keep their places. */
  readonly slowSlots: number
  readonly bytes: number
  readonly slowBytes: number
  /** Of one address at once: to begin with, and at most. */
  readonly window: number
  readonly maxWindow: number
  readonly slowMillis: number
}

interface Running {
  readonly addressId: number
  readonly bytes: number
  readonly since: number
  slow: boolean
}

interface AddressState {
  running: number
  slow: number
  window: number
  last: number
}

/** No claim takes more at once, so that what is claimed is sent at once. */
const MAX_CLAIM = 128
/** An address that had nothing for so long begins anew. */
const FORGET_MILLIS = 60_000

export class Lane {
  readonly name: LaneName
  readonly #limits: LaneLimits
  readonly #running = new Map<number, Running>()
  readonly #addresses = new Map<number, AddressState>()
  #quick = 0
  #quickBytes = 0
  #slowBytes = 0

  constructor(name: LaneName, limits: LaneLimits) {
    this.name = name
    this.#limits = limits
  }

  /** How many may be claimed now. */
  get free(): number {
    if (this.#quickBytes >= this.#limits.bytes) return 0
    return Math.max(0, Math.min(MAX_CLAIM, this.#limits.slots - this.#quick))
  }

  get perAddress(): number {
    return this.#limits.window
  }

  get running(): number {
    return this.#running.size
  }

  /** The room of every address that is not as good as new. */
  room(): Map<number, number> {
    const room = new Map<number, number>()
    for (const [id, state] of this.#addresses) {
      room.set(id, state.slow > 0 ? 0 : Math.max(0, state.window - state.running))
    }
    return room
  }

  begin(delivery: Claimed, now: number): void {
    const bytes = delivery.event?.text.length ?? 0
    this.#running.set(delivery.id, { addressId: delivery.addressId, bytes, since: now, slow: false })
    const state = this.#addresses.get(delivery.addressId) ?? {
      running: 0,
      slow: 0,
      window: this.#limits.window,
      last: now,
    }
    this.#addresses.set(delivery.addressId, state)
    state.running++
    state.last = now
    this.#quick++
    this.#quickBytes += bytes
  }

  /** True when the address has so much room again that a claim for it is worth its round trip. */
  end(deliveryId: number, delivered: boolean, now: number): boolean {
    const running = this.#running.get(deliveryId)
    if (running === undefined) return false
    this.#running.delete(deliveryId)
    const state = this.#addresses.get(running.addressId)!
    state.running--
    state.last = now
    state.window = delivered && !running.slow ? Math.min(state.window + 1, this.#limits.maxWindow) : 1
    if (running.slow) {
      state.slow--
      this.#slowBytes -= running.bytes
    } else {
      this.#quick--
      this.#quickBytes -= running.bytes
    }
    return state.running <= state.window / 2
  }

  /** Looks for what became slow, and forgets idle addresses; true when there is new room. */
  look(now: number): boolean {
    let slow = this.#running.size - this.#quick
    let found = false
    for (const running of this.#running.values()) {
      if (running.slow || now - running.since < this.#limits.slowMillis) continue
      if (slow >= this.#limits.slowSlots || this.#slowBytes + running.bytes > this.#limits.slowBytes) break
      running.slow = true
      found = true
      slow++
      this.#addresses.get(running.addressId)!.slow++
      this.#slowBytes += running.bytes
      this.#quick--
      this.#quickBytes -= running.bytes
    }
    for (const [id, state] of this.#addresses) {
      if (state.running === 0 && now - state.last > FORGET_MILLIS) this.#addresses.delete(id)
    }
    return found
  }
}
