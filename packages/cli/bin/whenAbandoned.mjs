import { readFileSync } from "node:fs"

/**
 * Calls `stop` when the npm or npx that started this process is gone. They run it below a shell, which dies of a signal
 * without passing it on, and which does not die at all when npm itself is killed; either way a server would keep running
 * that its user believes stopped. So both ancestors are watched. A shell such as bash becomes the program that it runs, so
 * that npm is the parent; above it is the user's own shell, which may end: `nohup npm start &` outlives its terminal.
 */
export const whenAbandoned = (stop) => {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const npm = parentOfShell(parent)
  const timer = setInterval(() => {
    if (process.ppid === parent && parentOfShell(parent) === npm) return
    clearInterval(timer)
    stop()
  }, 200)
  timer.unref()
}

const SHELL = /^(?:ba|da|a|k|z|mk|ya)?sh$/

/** Undefined for a program that is no shell, and if the system does not provide it. */
const parentOfShell = (pid) => {
  try {
    // The second word is the program's name in parentheses and may hold spaces.
    const [, name, rest] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))
    return SHELL.test(name) ? rest.split(" ")[1] : undefined
  } catch {
    return undefined
  }
}
