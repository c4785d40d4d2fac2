import { readFileSync } from "node:fs"

/**
 * Calls `stop` when the npm or npx that started this process is gone. They run it below a shell, which dies of a signal
 * without passing it on, and which does not die at all when npm itself is killed; either way a server would keep running
 * that its user believes stopped. So both ancestors are watched.
 */
export const whenAbandoned = (stop) => {
  if (process.env.npm_lifecycle_event === undefined) return
  const shell = process.ppid
  const npm = parentOf(shell)
  const timer = setInterval(() => {
    if (process.ppid === shell && parentOf(shell) === npm) return
    clearInterval(timer)
    stop()
  }, 200)
  timer.unref()
}

/** Undefined if the system does not provide it. */
const parentOf = (pid) => {
  try {
    // The second word is the program's name in parentheses and may hold spaces.
    const [, parent] = readFileSync(`/proc/${pid}/stat`, "utf8").split(")").at(-1).trim().split(" ")
    return parent
  } catch {
    return undefined
  }
}
