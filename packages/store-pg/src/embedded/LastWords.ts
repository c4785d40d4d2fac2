/**
 * Finds out why the embedded PostgreSQL ended or does not start, from the last messages in its log. Words the usual
 * causes itself, and leaves the others in PostgreSQL's words, without what they quote, so that they may be shown to
 * anyone.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs"
import { Context, Effect, Layer } from "effect"
import { dataDirAt } from "./DataDir.ts"
import { isServerOf, readPostmasterPid } from "./PostmasterPid.ts"

/** How many bytes at the end of a log are searched. */
const TAIL_BYTES = 65_536

const READY = /database system is ready to accept connections/

/** Messages that end or refuse a session say nothing about the server. */
const OF_SESSIONS =
  /(?:FATAL|PANIC):\s+(?:terminating|the database system is|password authentication|role |database "|no pg_hba|sorry|too many|remaining connection|connection|canceling|unsupported|expected)/

/** How many lines before the end may say why, if the last message does not. */
const LINES_BEFORE = 10

/** The last message of the server about itself since it was last ready; undefined without one. */
export const lastWordsIn = (log: string): string | undefined => {
  const lines = log.trim().split("\n")
  const since = lines.slice(lines.findLastIndex((line) => READY.test(line)) + 1)
  const end = since.findLastIndex((each) => /FATAL|PANIC/.test(each) && !OF_SESSIONS.test(each))
  const before = end < 0 ? since : since.slice(Math.max(0, end - LINES_BEFORE), end)
  const failure = () => before.findLast((each) => /(?:ERROR|LOG):/.test(each) && /No space|could not/.test(each))
  const last = since[end]
  const line = last === undefined || usualReason(last) === undefined ? (failure() ?? last) : last
  return line?.slice(Math.max(0, line.search(/FATAL|PANIC|ERROR|LOG/))).replace(/\.$/, "")
}

/** The last words in the log, from this byte on. */
export const lastWordsOf = (logFile: string, from = 0): string | undefined => {
  const file = openSync(logFile, "r")
  try {
    const { size } = fstatSync(file)
    const start = Math.max(from, size - TAIL_BYTES)
    const bytes = Buffer.alloc(Math.max(0, size - start))
    readSync(file, bytes, 0, bytes.length, start)
    return lastWordsIn(bytes.toString("utf8"))
  } finally {
    closeSync(file)
  }
}

const USUAL: ReadonlyArray<readonly [RegExp, string]> = [
  [/No space left on device|Disk quota exceeded/i, "its disk is full"],
  [
    /Address already in use|could not create any TCP\/IP sockets|could not bind/,
    "its port is in use by another program: choose another in CABINET_POSTGRES_PORT",
  ],
  [/Read-only file system/i, "its disk is read-only"],
  [
    /Permission denied|Operation not permitted|invalid permissions|wrong ownership/,
    "its data directory has the wrong owner or permissions",
  ],
  [
    /checksum|invalid page|corrupt|could not locate a valid checkpoint|invalid checkpoint|control file|invalid magic/,
    "its data are damaged: restore a backup",
  ],
  [/Input\/output error|EIO:/, "its disk cannot be read or written"],
  [/out of memory|Cannot allocate memory/i, "the machine is out of memory"],
]

const usualReason = (words: string): string | undefined => USUAL.find(([pattern]) => pattern.test(words))?.[1]

/** Words that end the sentence "the database cannot be used: …". */
export const reasonIn = (lastWords: string): string =>
  usualReason(lastWords) ?? `it has stopped (${lastWords.replace(/"[^"]*"/g, "…").replace(/\s+/g, " ")})`

/** For a log: the reason with the message in which it was found, or the message alone. */
export const reasonWithWords = (lastWords: string): string => {
  const reason = usualReason(lastWords)
  return reason === undefined ? lastWords : `${reason} (${lastWords})`
}

/** Why a program such as initdb failed, from its output. */
export const reasonOfProgram = (output: string): string => {
  const lines = output.trim().split("\n")
  const line = lines.findLast((each) => /error|fatal/iu.test(each)) ?? lines.at(-1)!
  return reasonWithWords(line.slice(Math.max(0, line.search(/FATAL|PANIC/))).trim() || "no message")
}

/** Why a server has stopped, from its log, which is read again only after it has grown. */
export const stoppedBecause = (logFile: string): (() => string | undefined) => {
  let size = -1
  let why: string | undefined
  return () => {
    const now = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
    if (now !== size) {
      size = now
      const words = lastWordsOf(logFile)
      why = words === undefined ? undefined : reasonIn(words)
    }
    return why
  }
}

/** Why the server of a data directory is not running; null while it runs, or if its log gives no reason. */
const whyStopped = async (dataDir: string): Promise<string | null> => {
  const { pgdata, logFile } = dataDirAt(dataDir)
  const file = readPostmasterPid(pgdata)
  if (file !== undefined && file.status === "ready" && (await isServerOf(pgdata, file))) return null
  const words = lastWordsOf(logFile)
  return words === undefined ? null : reasonIn(words)
}

/** Why the embedded PostgreSQL of this cabinet is not running, in words; null for any other database. */
export const StoppedBecause = Context.Reference<Effect.Effect<string | null>>(
  "@data-cabinet/store-pg/embedded/LastWords/StoppedBecause",
  { defaultValue: () => Effect.succeed(null) },
)

/** `dataDir`: null for a database elsewhere. */
export const layer = (dataDir: string | null) =>
  Layer.succeed(
    StoppedBecause,
    dataDir === null
      ? Effect.succeed(null)
      : Effect.orElseSucceed(
          Effect.tryPromise(() => whyStopped(dataDir)),
          () => null,
        ),
  )
