/** A lane of the dispatcher with its limits, and the state that its claim loop and its senders share. */
import { Latch } from "effect"
import type { Lane, LaneLimits } from "./Lane.ts"

const MEGABYTE = 1_048_576

/** The limits of the lane of addresses that work. */
export const HEALTHY: LaneLimits = {
  slots: 256,
  slowSlots: 2048,
  bytes: 64 * MEGABYTE,
  slowBytes: 192 * MEGABYTE,
  window: 2,
  maxWindow: 32,
  wideWindow: 128,
  ahead: 960,
  slowMillis: 1000,
}

/** The limits of the lane of addresses that fail. */
export const FAILING: LaneLimits = {
  ...HEALTHY,
  slots: 512,
  slowSlots: 0,
  bytes: 32 * MEGABYTE,
  slowBytes: 0,
  window: 1,
  maxWindow: 2,
  wideWindow: 2,
  ahead: 0,
}

/** A lane, with the state shared by its claim loop and its senders. */
export class DispatchLane {
  readonly lane: Lane
  /** Open when there may be something to claim. Opened by senders and signals, closed by the claim loop. */
  readonly mayClaim = Latch.makeUnsafe(true)
  /** The address of the last claimed delivery: the next claim continues after it. */
  lastAddressId = 0
  /** A settlement in progress may move an address to another lane, or make room for it. Written by senders. */
  changesOnSettlement = false
  /** Whether a claim is in progress. */
  claiming = false
  /** Addresses that gained room during a claim, perhaps too late for that claim to fill it. */
  readonly starved = new Set<number>()

  constructor(lane: Lane) {
    this.lane = lane
  }

  /** True when an address that gained room during the last claim still has it. */
  takeStarved(): boolean {
    const starved = [...this.starved].some((id) => this.lane.hasRoom(id))
    this.starved.clear()
    return starved
  }
}
