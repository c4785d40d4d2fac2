/**
 * How much garbage V8 may leave uncollected. By default V8 uses more memory to collect less often: 128 MB for young
 * objects, though few of them are live, and for old ones four times the live size. A server with little load was
 * measured to reach that every quarter of an hour, with 30 MB of garbage.
 */
import { type EventLoopUtilization, performance } from "node:perf_hooks"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { machineMemory } from "@data-cabinet/store-pg/embedded/MachineMemory"

/**
 * The limit for young objects; V8 shrinks the space to 1 MB when idle, and then it may grow again. In measurements,
 * twice as much saved a server a twelfth of its CPU for 30 MB more; half as much cost a tenth more CPU, 8 MB two
 * fifths.
 */
const YOUNG_BYTES = 32 * 1_048_576

/** The part of a small machine's memory that young objects may take: 16 MB of 512. */
const YOUNG_PART = 32

/** V8 reads the factor whenever it considers growing the space; the limit itself it reads only at start. */
const STOP = 1
const GROW = 2

/**
 * How often the heap is checked, in milliseconds. Observing each collection instead created 18 % of the garbage that grew
 * old.
 */
const CHECK_INTERVAL_MILLIS = 250

const capYoungSpace = (): void => {
  const most = Math.min(YOUNG_BYTES, machineMemory() / YOUNG_PART)
  let factor = GROW
  const look = () => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")
    const next = young !== undefined && young.space_size >= most ? STOP : GROW
    // Set again while the space is full, because bin/compiledCode sets the usual value for a moment.
    if (next === GROW && factor === GROW) return
    factor = next
    setFlagsFromString(`--semi-space-growth-factor=${factor}`)
  }
  setInterval(look, CHECK_INTERVAL_MILLIS).unref()
}

/** How often a process with little load collects its garbage, in milliseconds. */
const COLLECT_INTERVAL_MILLIS = 60_000

/**
 * The share of its time up to which a process has little load. A collection stops everything for 20 to 30 ms, which few
 * requests meet then; in a busier process V8 collects often enough, in small steps.
 */
const MAX_QUIET_SHARE = 0.25

/** V8 exposes it to new contexts only after this flag is set. */
const fullCollection = (): (() => void) => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc") as () => void
}

/**
 * Collects all garbage from time to time while there is little load, so that memory stays where it was in the first
 * minutes.
 */
export const collectWhileQuiet = (every = COLLECT_INTERVAL_MILLIS): void => {
  let collect: (() => void) | undefined
  let began: EventLoopUtilization = performance.eventLoopUtilization()
  const look = () => {
    const { utilization } = performance.eventLoopUtilization(began)
    if (utilization < MAX_QUIET_SHARE) {
      collect ??= fullCollection()
      collect()
    }
    began = performance.eventLoopUtilization()
  }
  setInterval(look, every).unref()
}

/** In effect as long as the process lives; for a process of our own only. */
export const boundHeap = (): void => {
  capYoungSpace()
  // The limit of the other spaces, and of V8's memory outside of them. At three times the live data a page costs as little,
  // but an import takes 144 MB; at twice it takes 56, and a page costs a sixth more CPU.
  setFlagsFromString("--heap-growing-percent=150")
  collectWhileQuiet()
}
