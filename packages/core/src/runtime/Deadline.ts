/**
 * A deadline as a value. It accompanies a request from layer to layer, and each queue removes requests past their
 * deadline (see TimerWheel). No layer sets a timer for a request.
 */
import type { Clock } from "effect"

/** A time of the monotonic clock, in milliseconds: adjusting the wall clock has no effect. */
export type Deadline = number

/** The current time on the clock of deadlines. */
export const monotonicMillis = (clock: Clock.Clock): Deadline => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
