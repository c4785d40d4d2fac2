/** One run of measurements: its PostgreSQL and everything it has started are gone when it ends, however it ends. */
import { type Cluster, startCluster } from "./cluster.ts"
import { endContestants } from "./contestant.ts"

export interface Run {
  readonly cluster: Cluster
  readonly end: () => Promise<void>
  /** The code that the process ends with, where it does so before its time. */
  readonly brokenOff: () => number | undefined
}

export const startRun = async (say: (line: string) => void): Promise<Run> => {
  let ending: Promise<void> | undefined
  const end = () => (ending ??= endContestants().then(async () => (await starting).stop()))
  let brokenOff: number | undefined
  const breakOff = (code: number) => {
    if (brokenOff !== undefined) return
    brokenOff = code
    void end().finally(() => process.exit(code))
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => breakOff(130))
  // Also where nobody reads on: `npm run bench 2>&1 | head` is over, and its PostgreSQL with it.
  process.on("uncaughtException", (error) => {
    // What is being measured when it is broken off fails, and nobody wants to know how.
    if (brokenOff === undefined) say(String(error.stack))
    breakOff(1)
  })
  const starting = startCluster()
  return { cluster: await starting, end, brokenOff: () => brokenOff }
}
