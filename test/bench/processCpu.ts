/**
 * CPU time as Linux counts it: user and system, of whole processes, in milliseconds. Beside the wall clock it is the
 * steadier measure, since it hardly depends on what else the machine does. Elsewhere there is none.
 */
import { readdirSync, readFileSync } from "node:fs"

/** Linux counts in ticks of 10 ms whatever the kernel's own rate is. */
const TICK_MILLIS = 10

interface Stat {
  readonly pid: number
  readonly parent: number
  readonly own: number
  readonly children: number
}

const statOf = (pid: number): Stat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1")
    // The name stands in parentheses and may hold anything, so fields are counted from behind it.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    const at = (field: number) => Number(fields[field - 3]) * TICK_MILLIS
    return { pid, parent: Number(fields[1]), own: at(14) + at(15), children: at(16) + at(17) }
  } catch {
    return undefined
  }
}

/** Of one process with all its threads. */
export const processCpu = (pid: number): number => statOf(pid)?.own ?? 0

/** Of what a process started, and has ended. */
export const endedCpu = (pid: number): number => statOf(pid)?.children ?? 0

/** Of a process and everything it started, what has ended included. */
export const treeCpu = (pid: number): number => {
  const root = statOf(pid)
  if (root === undefined) return 0
  let sum = root.own + root.children
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue
    const stat = statOf(Number(name))
    if (stat?.parent === pid) sum += stat.own
  }
  return sum
}

/** Resident memory of a process in bytes. */
export const residentBytes = (pid: number): number => {
  try {
    const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))
    return Number(line?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
