/**
 * How much may be in flight at once: in total, in bytes, and per address. A lane holds no connection and no fiber. The
 * loop reads from it how much to claim, adds the claimed deliveries, and takes from it the ones to send now.
 *
 * An attempt in flight for a second is slow: it gives up its slot, so that receivers that hang cannot fill the lane,
 * and its address gets no further request meanwhile. An address begins with two requests at once and earns more with
 * each quick delivery, past the usual maximum only while the lane is half empty and responses take long enough that it
 * helps. For an address that has earned the maximum, deliveries are claimed ahead: some hundreds wait here for their turn, so that one statement claims many, and
 * one statement records the outcomes of many. No more wait for all addresses together: a thousand quick addresses share
 * the slots, and what waited for seconds would be claimed in vain. Deliveries waiting for an address that stops responding, refuses all or
 * slows down are released at once.
 *
 * Decision: docs/decisions/0013-fast-addresses-are-claimed-ahead.md
 */
import type { Claimed, Lane as LaneName } from "@data-cabinet/core/delivery/DeliveryQueue"
import { AdaptiveWindow, type Fate } from "./AdaptiveWindow.ts"

export interface LaneLimits {
  /** In flight at once, not counting the slow ones. */
  readonly slots: number
  /** Slow ones at once; beyond that they keep their slots. */
  readonly slowSlots: number
  readonly bytes: number
  readonly slowBytes: number
  /** Per address at once: the initial number, and the maximum. */
  readonly window: number
  readonly maxWindow: number
  /** The maximum while half of the slots are free. */
  readonly wideWindow: number
  /** The most deliveries claimed ahead of their turn, of one address and of all together. */
  readonly ahead: number
  readonly slowMillis: number
}

interface Running {
  readonly address: AdaptiveWindow
  readonly bytes: number
  readonly since: number
  slow: boolean
}

/** The limit of one claim, apart from what addresses have earned ahead. */
const MAX_CLAIM = 128
/** An address idle for this long starts over. */
const IDLE_MILLIS = 60_000
/** Of more addresses, those idle the longest start over: each claim states the room of all that are known. */
const MAX_KNOWN = 4096

export const bytesOf = (delivery: Claimed): number => delivery.event?.json.length ?? 0

export class Lane {
  readonly name: LaneName
  readonly #limits: LaneLimits
  /** Keyed by claim and not by delivery: a delivery whose lease ended in flight may be claimed here once more. */
  readonly #running = new Map<Claimed, Running>()
  /** The one claimed for last comes last. */
  readonly #addresses = new Map<number, AdaptiveWindow>()
  /** Addresses that have something waiting and may send it, in turn. */
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

  /** How many deliveries may be claimed now. */
  get free(): number {
    if (this.#quickBytes >= this.#limits.bytes) return 0
    let ahead = 0
    for (const address of this.#addresses.values()) ahead += address.aheadRoom
    return (
      Math.max(0, Math.min(MAX_CLAIM, this.#limits.slots - this.#quick)) +
      Math.max(0, Math.min(ahead, this.#limits.ahead - this.#waiting))
    )
  }

  get perAddress(): number {
    return this.#limits.window
  }

  /** How many deliveries are claimed and not finished. */
  get held(): number {
    return this.#running.size + this.#waiting
  }

  /** The capacity of every address whose state differs from that of a new one. */
  room(): Map<number, number> {
    const room = new Map<number, number>()
    for (const [id, address] of this.#addresses) room.set(id, address.room)
    return room
  }

  /** Whether an address has enough room that a claim for it is worth its round trip. */
  hasRoom(addressId: number): boolean {
    return this.#addresses.get(addressId)?.hasRoom ?? true
  }

  /** Adds a claimed delivery; `next` decides when it is sent. */
  add(delivery: Claimed, now: number): void {
    const { addressId } = delivery.recipient
    const address = this.#addresses.get(addressId) ?? new AdaptiveWindow(this.#limits, now, this.#isRoomy)
    this.#addresses.delete(addressId)
    this.#addresses.set(addressId, address)
    address.wait(delivery, now)
    this.#waiting++
    this.#quickBytes += bytesOf(delivery)
    if (address.ready(now)) this.#ready.add(address)
  }

  /** Called when a delivery of an address with a rate is due to be sent. */
  due({ recipient }: Claimed, now: number): void {
    const address = this.#addresses.get(recipient.addressId)
    if (address?.ready(now) === true) this.#ready.add(address)
  }

  /** The next delivery that may be sent now; addresses take turns. */
  next(now: number): Claimed | undefined {
    if (this.#quick >= this.#limits.slots) return undefined
    for (const address of this.#ready) {
      this.#ready.delete(address)
      if (!address.ready(now)) continue
      const delivery = address.begin(now)
      this.#waiting--
      this.#quick++
      this.#running.set(delivery, { address, bytes: bytesOf(delivery), since: now, slow: false })
      if (address.ready(now)) this.#ready.add(address)
      return delivery
    }
    return undefined
  }

  /** Whether an address may have more than the usual maximum in flight. */
  readonly #isRoomy = (): boolean => this.#quick < this.#limits.slots / 2

  /** True when the address now has room for a claim (`hasRoom`). */
  end(delivery: Claimed, fate: Fate, now: number): boolean {
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
    if (address.end({ fate, slow, bytes, millis: now - since }, now)) this.#giveBack(address)
    if (address.ready(now)) this.#ready.add(address)
    return address.hasRoom
  }

  /** Marks deliveries that became slow, and forgets idle addresses; true when there is new room. */
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
      if (address.ready(now)) this.#ready.add(address)
      if (address.held > 0) continue
      if (this.#addresses.size > MAX_KNOWN || now - address.last > IDLE_MILLIS) this.#addresses.delete(id)
    }
    return found
  }

  /** Deliveries that will not be sent from here after all, since the last call. */
  returned(): ReadonlyArray<Claimed> {
    if (this.#returned.length === 0) return this.#returned
    const returned = this.#returned
    this.#returned = []
    return returned
  }

  /** Gives back all waiting deliveries. */
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
