/**
 * Ensures that a server does not outlive its users. For each server that this process starts, a shell waits on a pipe
 * that closes when this process ends for any reason. Only then does the shell exec `EndUnused`, so that it costs next
 * to nothing while all is well. It runs in a session of its own, where a Ctrl-C does not reach it.
 */
import { type ChildProcess, spawn } from "node:child_process"
import type { DataDir } from "./DataDir.ts"
import { endUnusedProgram } from "./EndUnusedProgram.ts"

/** How long a server stays after its last user was killed: a supervisor starts the next one well within that time. */
export const LINGER_MILLIS = 30_000

const waiting = new Map<string, ChildProcess>()

/** Called for a server that this process has just started; `pid` is the server's process id. */
export const startWatchdog = (dir: DataDir, pid: number, lingerMillis: number): void => {
  stopWatchdog(dir)
  const program = [process.execPath, ...endUnusedProgram, dir.root, String(pid), String(lingerMillis)]
  const words = process.platform === "win32" ? program : ["/bin/sh", "-c", 'read -r _; exec "$0" "$@"', ...program]
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = spawn(words[0]!, words.slice(1), {
    cwd: "/",
    env,
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  })
  // Without the watchdog a server may be left running; nothing else is lost.
  child.on("error", () => waiting.delete(dir.root))
  child.stdin.on("error", () => {})
  child.unref()
  // Bun's pipes have no unref: there, they never keep a process alive.
  ;(child.stdin as unknown as { readonly unref?: () => void }).unref?.()
  waiting.set(dir.root, child)
}

/** The server was stopped: there is nothing left to watch. */
export const stopWatchdog = (dir: DataDir): void => {
  waiting.get(dir.root)?.kill("SIGKILL")
  releaseWatchdog(dir)
}

/** This process no longer uses the server, but others do. */
export const releaseWatchdog = (dir: DataDir): void => {
  // Destroyed, not ended: ending is asynchronous work, and none may remain after close().
  waiting.get(dir.root)?.stdin!.destroy()
  waiting.delete(dir.root)
}
