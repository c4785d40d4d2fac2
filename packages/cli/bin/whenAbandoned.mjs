import { readFileSync } from "node:fs"

/**
 * Calls `stop` when the npm or npx that started us is gone.
 * They run us below a shell, which dies of a signal without passing it on, and of nothing when npm itself is killed;
 * either way a server would be left running that its starter thinks is gone. So both forebears are watched.
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

/** Undefined where the system does not say. */
const parentOf = (pid) => {
  try {
    // The second word is the program's name in parentheses and may hold spaces.
    const [, parent] = readFileSync(`/proc/${pid}/stat`, "utf8").split(")").at(-1).trim().split(" ")
    return parent
  } catch {
    return undefined
  }
}
