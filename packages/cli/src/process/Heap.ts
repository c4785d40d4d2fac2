/**
 * How much V8 may let lie. By itself it takes memory for being asked less often to collect: 128 MB for young objects,
 * though little in them lives, and for old ones four times what is alive. A server with little to do was measured to reach
 * that once in a quarter of an hour, with 30 MB of garbage by then.
 */
import { type EventLoopUtilization, performance } from "node:perf_hooks"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/**
 * What young objects may have; V8 shrinks it to 1 MB when nothing goes on, and then it may grow again. Twice that was
 * measured to save a server a twelfth of its CPU for 30 MB more, half of it to cost a tenth, 8 MB two fifths.
 */
const YOUNG_BYTES = 32 * 1_048_576

/** V8 reads the factor whenever it thinks of growing their space; the limit itself it reads only as it starts. */
const STOP = 1
const GROW = 2

/** How often it is looked at, in milliseconds. To be told of each collection made 18 % of the garbage that grew old. */
const CHECK_INTERVAL_MILLIS = 250

const capYoungSpace = (): void => {
  let factor = GROW
  const look = () => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")
    const next = young !== undefined && young.space_size >= YOUNG_BYTES ? STOP : GROW
    if (next === factor) return
    factor = next
    setFlagsFromString(`--semi-space-growth-factor=${factor}`)
  }
  setInterval(look, CHECK_INTERVAL_MILLIS).unref()
}

/** How often a process with little to do collects what lies, in milliseconds. */
const COLLECT = 60_000

/**
 * The part of its time up to which a process has little to do. All stands still for 20 to 30 ms while it collects, which few
 * requests meet then; of a busier one V8 collects often enough, a little at a time.
 */
const LITTLE = 0.25

/** V8 shows it to new contexts only once it was asked to. */
const fullCollection = (): (() => void) => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc") as () => void
}

/** Collects all garbage now and then while there is little to do, so that memory stays where it was in the first minutes. */
export const collectWhileQuiet = (every = COLLECT): void => {
  let collect: (() => void) | undefined
  let began: EventLoopUtilization = performance.eventLoopUtilization()
  const look = () => {
    const { utilization } = performance.eventLoopUtilization(began)
    if (utilization < LITTLE) {
      collect ??= fullCollection()
      collect()
    }
    began = performance.eventLoopUtilization()
  }
  setInterval(look, every).unref()
}

/** For as long as the process lives; for one that is ours alone. */
export const boundHeap = (): void => {
  capYoungSpace()
  // Of the other spaces, and of what V8 holds outside of them. At three times what is alive a page costs as little, but an
  // import takes 144 MB; at twice it takes 56, and a page costs a sixth more CPU.
  setFlagsFromString("--heap-growing-percent=150")
  collectWhileQuiet()
}
