/**
 * Starts and stops the server process of a data directory. It is started in a session of its own: a Ctrl-C in the
 * terminal must reach Node alone, which first drains its work and then stops the database.
 */
import { spawn } from "node:child_process"
import { closeSync, existsSync, openSync, renameSync, statSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import type { Binaries } from "./Binaries.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { lastWordsOf, reasonWithWords } from "./LastWords.ts"
import { accepts, isAlive, isServerOf, readPostmasterPid, type PostmasterPid } from "./PostmasterPid.ts"
import { giveTo, type Launcher } from "./Unprivileged.ts"

export interface PostmasterOptions {
  readonly binaries: Binaries
  readonly launcher: Launcher
  readonly pgdata: string
  /** Rotated on start if larger than 8 MB; the previous one is kept with the suffix `.old`. */
  readonly logFile: string
  /** Server settings, each passed as `-c name=value`. */
  readonly settings: Readonly<Record<string, string>>
  readonly startTimeoutMillis: number
}

/**
 * Starts the server and waits until it accepts connections. Rejects with EmbeddedPostgresError `start_failed`, including
 * the last lines of the server's own log.
 */
export const startPostmaster = async (options: PostmasterOptions): Promise<PostmasterPid> => {
  const { binaries, launcher, pgdata, logFile, settings } = options
  giveTo(launcher, pgdata)
  const logStart = turnLog(logFile)
  const log = openSync(logFile, "a", 0o600)
  const words = [...launcher.prefix, binaries.postgres, "-D", pgdata]
  for (const [name, value] of Object.entries(settings)) words.push("-c", `${name}=${value}`)
  const child = spawn(words[0]!, words.slice(1), {
    cwd: "/",
    env: { ...process.env, ...binaries.env, LC_ALL: "C" },
    stdio: ["ignore", log, log],
    detached: true,
    ...launcher.identity,
  })
  closeSync(log)
  let ended = false
  child.on("exit", () => (ended = true))
  child.on("error", () => (ended = true))
  child.unref()
  const deadline = Date.now() + options.startTimeoutMillis
  while (!ended && Date.now() < deadline) {
    const file = readPostmasterPid(pgdata)
    if (file?.pid === child.pid && file?.status === "ready" && (await accepts(file))) return file
    await sleep(10)
  }
  if (!ended && child.pid !== undefined) process.kill(child.pid, "SIGQUIT")
  throw new EmbeddedPostgresError({
    code: "start_failed",
    message: `The database in ${pgdata} did not start: ${lastWords(logFile, logStart)}. Its whole log is ${logFile}.`,
  })
}

/** How long a "fast" shutdown may take before it becomes an "immediate" one, and that one before it has failed. */
const STOP_MILLIS = { fast: 30_000, immediate: 30_000 }

/** How a server was stopped: `immediate` if a session did not end on request. */
export type Stopped = "fast" | "immediate"

/**
 * Stops the server with a "fast" shutdown and waits for it: sessions are cut off, committed data is safe. It waits for
 * every session, and some functions look at no interrupt; after 30 seconds an "immediate" shutdown ends those as well.
 * Nothing is lost by that: the next start recovers as after a crash. A server that is already gone is not an error.
 * Rejects with `stop_failed` if that takes another 30 seconds.
 */
export const stopPostmaster = async (
  pgdata: string,
  server: PostmasterPid,
  millis: typeof STOP_MILLIS = STOP_MILLIS,
): Promise<Stopped> => {
  if (!(await isServerOf(pgdata, server))) return "fast"
  if (await isStopped(pgdata, server, "SIGINT", millis.fast)) return "fast"
  if (await isStopped(pgdata, server, "SIGQUIT", millis.immediate)) return "immediate"
  throw new EmbeddedPostgresError({
    code: "stop_failed",
    message: `The database process ${server.pid} has not ended ${(millis.fast + millis.immediate) / 1000} s after the signal. Look at its log beside ${pgdata}; nothing that was committed is lost if you end it with: kill -KILL ${server.pid}`,
  })
}

/** Sends the signal, and waits a limited time for the server to end. */
const isStopped = async (
  pgdata: string,
  server: PostmasterPid,
  signal: "SIGINT" | "SIGQUIT",
  millis: number,
): Promise<boolean> => {
  if (isAlive(server.pid)) process.kill(server.pid, signal)
  const deadline = Date.now() + millis
  while (Date.now() < deadline) {
    // The file is removed last, after the shutdown checkpoint.
    if (!isAlive(server.pid) || readPostmasterPid(pgdata)?.pid !== server.pid) return true
    await sleep(10)
  }
  return false
}

export const maxLogBytes = 8 * 1024 * 1024

const turnLog = (logFile: string): number => {
  if (!existsSync(logFile)) return 0
  const { size } = statSync(logFile)
  if (size <= maxLogBytes) return size
  renameSync(logFile, `${logFile}.old`)
  return 0
}

const lastWords = (logFile: string, from: number): string => {
  const words = lastWordsOf(logFile, from)
  return words === undefined ? "it gave no reason in time" : reasonWithWords(words)
}
