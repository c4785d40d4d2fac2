/**
 * CPU time as Linux counts it: user and system time of whole processes, in milliseconds. It is steadier than wall-clock time,
 * because it hardly depends on other load. Other systems have none.
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
    // The name is in parentheses and may contain anything, so fields are counted after it.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    const at = (field: number) => Number(fields[field - 3]) * TICK_MILLIS
    return { pid, parent: Number(fields[1]), own: at(14) + at(15), children: at(16) + at(17) }
  } catch {
    return undefined
  }
}

/** The CPU time of one process with all its threads. */
export const processCpu = (pid: number): number => statOf(pid)?.own ?? 0

/** The CPU time of a process's ended children. */
export const endedCpu = (pid: number): number => statOf(pid)?.children ?? 0

/** The CPU time of a process and everything it started, including ended processes. */
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

/** The resident memory of a process in bytes. */
export const residentBytes = (pid: number): number => {
  try {
    const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))
    return Number(line?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
