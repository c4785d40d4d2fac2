/**
 * V8 lets the space for young objects grow to 128 MB under any load, though little in it lives, and shrinks it to 1 MB when
 * nothing goes on. Here it stops growing once it is found to have 16 MB, by when it mostly has twice that; it may grow
 * again once it has shrunk. That was measured to cost a server no CPU; 8 MB for good costs it two fifths more.
 */
import { PerformanceObserver } from "node:perf_hooks"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"

const CAP_BYTES = 16 * 1_048_576

/** V8 reads the factor whenever it thinks of growing the space; the limit itself it reads only as it starts. */
const STOP = 1
const GROW = 2

/** For as long as the process lives. It is looked at after each collection, which is when it may have grown. */
export const capYoungSpace = (): void => {
  let factor = GROW
  const look = () => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")
    const next = young !== undefined && young.space_size >= CAP_BYTES ? STOP : GROW
    if (next === factor) return
    factor = next
    setFlagsFromString(`--semi-space-growth-factor=${factor}`)
  }
  new PerformanceObserver(look).observe({ entryTypes: ["gc"] })
}
