/** One run of measurements. Its PostgreSQL and everything that it started end with it, however it ends. */
import { type Cluster, startCluster } from "./cluster.ts"
import { endContestants } from "./contestant.ts"

export interface Run {
  readonly cluster: Cluster
  readonly end: () => Promise<void>
  /** The exit code of a process that ends early. */
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
  // Even without a reader, as after `npm run bench 2>&1 | head`, the run ends, and its PostgreSQL with it.
  process.on("uncaughtException", (error) => {
    // An interrupted measurement fails; that failure is not reported.
    if (brokenOff === undefined) say(String(error.stack))
    breakOff(1)
  })
  const starting = startCluster()
  return { cluster: await starting, end, brokenOff: () => brokenOff }
}
