/**
 * A deadline as a value: it travels with a request from layer to layer, and whoever makes the request wait sweeps what is
 * past it (see TimerWheel). No layer sets a timer for a request.
 */
import type { Clock } from "effect"

/** A moment of the monotonic clock, in milliseconds: a wall clock that is set back or forth changes nothing. */
export type Deadline = number

/** Now, as deadlines are counted. */
export const monotonicMillis = (clock: Clock.Clock): Deadline => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
