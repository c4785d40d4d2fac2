/**
 * How much may be under way at once: in all, in bytes, and for each address. A lane holds no connection and no fiber; the
 * loop asks it before it claims, hands it what it claimed, and is told what may be sent now.
 *
 * What has been under way for a second is slow: it gives its place back, so that receivers that hang cannot fill the
 * lane, and its address gets no further request meanwhile. An address begins with two at once and earns more with each
 * quick delivery. One that has earned all it can is claimed for ahead: some hundreds wait here for their turn, so that a
 * claim, and writing down what came of it, is one statement for many. What waits for an address that fails or slows down
 * is given back at once.
 */
import type { Claimed, Lane as LaneName } from "@data-cabinet/core/delivery/DeliveryQueue"
import { AdaptiveWindow } from "./AdaptiveWindow.ts"

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
  /** Of one address claimed ahead of their turn, at most. */
  readonly ahead: number
  readonly slowMillis: number
}

interface Running {
  readonly address: AdaptiveWindow
  readonly bytes: number
  readonly since: number
  slow: boolean
}

/** No claim takes more, but for what addresses have earned ahead. */
const MAX_CLAIM = 128
/** An address that had nothing for so long starts over. */
const FORGET_MILLIS = 60_000

export const bytesOf = (delivery: Claimed): number => delivery.event?.text.length ?? 0

export class Lane {
  readonly name: LaneName
  readonly #limits: LaneLimits
  /** By the claim and not by the delivery: one whose lease ended while it was under way may be claimed here once more. */
  readonly #running = new Map<Claimed, Running>()
  readonly #addresses = new Map<number, AdaptiveWindow>()
  /** Those that have something waiting and may send it, in turn. */
  readonly #ready = new Set<AdaptiveWindow>()
  #returned: Array<Claimed> = []
  #waiting = 0
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
    let ahead = 0
    for (const address of this.#addresses.values()) ahead += address.aheadRoom
    return Math.max(0, Math.min(MAX_CLAIM, this.#limits.slots - this.#quick)) + ahead
  }

  get perAddress(): number {
    return this.#limits.window
  }

  /** How many are claimed and have not ended. */
  get held(): number {
    return this.#running.size + this.#waiting
  }

  /** The room of every address that is not as good as new. */
  room(): Map<number, number> {
    const room = new Map<number, number>()
    for (const [id, address] of this.#addresses) room.set(id, address.room)
    return room
  }

  /** Whether an address has so much room that a claim for it is worth its round trip. */
  hasRoom(addressId: number): boolean {
    return this.#addresses.get(addressId)?.hasRoom ?? true
  }

  /** Adds a claimed delivery; `next` says when it is sent. */
  add(delivery: Claimed, now: number): void {
    const address = this.#addresses.get(delivery.addressId) ?? new AdaptiveWindow(this.#limits, now)
    this.#addresses.set(delivery.addressId, address)
    address.wait(delivery, now)
    this.#waiting++
    this.#quickBytes += bytesOf(delivery)
    if (address.ready) this.#ready.add(address)
  }

  /** What may be sent now, one after the other, the addresses in turn. */
  next(now: number): Claimed | undefined {
    if (this.#quick >= this.#limits.slots) return undefined
    for (const address of this.#ready) {
      this.#ready.delete(address)
      if (!address.ready) continue
      const delivery = address.begin(now)
      this.#waiting--
      this.#quick++
      this.#running.set(delivery, { address, bytes: bytesOf(delivery), since: now, slow: false })
      if (address.ready) this.#ready.add(address)
      return delivery
    }
    return undefined
  }

  /** True when the address is `hasRoom` now. */
  end(delivery: Claimed, delivered: boolean, now: number): boolean {
    const running = this.#running.get(delivery)
    if (running === undefined) return false
    this.#running.delete(delivery)
    const { address, bytes, since, slow } = running
    if (slow) {
      this.#slowBytes -= bytes
    } else {
      this.#quick--
      this.#quickBytes -= bytes
    }
    address.end({ delivered, slow, bytes, millis: now - since }, now)
    if (!delivered) this.#giveBack(address)
    if (address.ready) this.#ready.add(address)
    return address.hasRoom
  }

  /** Looks for what became slow, and forgets idle addresses; true when there is new room. */
  check(now: number): boolean {
    let slow = this.#running.size - this.#quick
    let found = false
    for (const running of this.#running.values()) {
      if (running.slow || now - running.since < this.#limits.slowMillis) continue
      if (slow >= this.#limits.slowSlots || this.#slowBytes + running.bytes > this.#limits.slowBytes) break
      running.slow = true
      found = true
      slow++
      running.address.slow++
      this.#slowBytes += running.bytes
      this.#quick--
      this.#quickBytes -= running.bytes
    }
    for (const [id, address] of this.#addresses) {
      if (address.stuck(now)) this.#giveBack(address)
      if (address.held === 0 && now - address.last > FORGET_MILLIS) this.#addresses.delete(id)
    }
    return found
  }

  /** What is not to be sent from here after all, since this was last asked. */
  returned(): ReadonlyArray<Claimed> {
    if (this.#returned.length === 0) return this.#returned
    const returned = this.#returned
    this.#returned = []
    return returned
  }

  /** Gives back all that waits. */
  empty(): void {
    for (const address of this.#addresses.values()) this.#giveBack(address)
  }

  #giveBack(address: AdaptiveWindow): void {
    const waiting = address.giveUp()
    this.#ready.delete(address)
    this.#waiting -= waiting.length
    for (const delivery of waiting) {
      this.#quickBytes -= bytesOf(delivery)
      this.#returned.push(delivery)
    }
  }
}
