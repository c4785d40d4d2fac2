/**
 * Describes in words why a database cannot be used: the fault of a disk, a limit, a server or a pooler, never of a
 * statement. The texts name no host, user or database and quote nothing, so they may be shown to anyone. They end the
 * sentence "the database cannot be used: …".
 */
import type { SqlError } from "effect/sql"
import { NoServerFits, TransactionPooling } from "./HostProbe.ts"
import { SessionUnfit } from "./SessionCheck.ts"
import { sqlMessage, sqlState } from "./SqlState.ts"

const BY_STATE: Readonly<Record<string, string>> = {
  "25006": "it is read-only: it is a standby, or set to read-only",
  "3D000": "it does not exist",
  "53100": "its disk is full",
  "53200": "it is out of memory or of lock space",
  "53300": "it accepts no more connections",
  "57P01": "it is shutting down",
  "57P02": "it has crashed and is recovering",
  "57P03": "it is starting up or shutting down",
  "58030": "it cannot read or write its disk",
}

/** A pooler's own errors have few codes, and none that is theirs alone. */
const BY_POOLER: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /unsupported startup parameter/i,
    "the connection pooler refuses sessions even without settings: connect to PostgreSQL directly",
  ],
  [/no more connections allowed/i, "the connection pooler accepts no more connections"],
  [/no such database/i, "the connection pooler does not know the database"],
  [
    /server login has been failing|cannot connect to server|query_wait_timeout|pgbouncer|pooler/i,
    "the connection pooler cannot connect to it",
  ],
]

const poolerWords = (error: SqlError.SqlError): string | undefined => {
  if (sqlState(error)?.startsWith("08") !== true) return undefined
  const message = sqlMessage(error)
  return BY_POOLER.find(([pattern]) => pattern.test(message))?.[1]
}

/** The source files in which PostgreSQL reads and writes the files of a cluster; no statement of a user gets there. */
const STORAGE_FILES: ReadonlySet<unknown> = new Set([
  "bufmgr.c",
  "md.c",
  "relcache.c",
  "relmapper.c",
  "slru.c",
  "xlog.c",
])

const BY_STORAGE: Readonly<Record<string, string>> = {
  "42501": "its data directory has the wrong owner or permissions",
  "58P01": "its data are damaged: restore a backup",
  XX001: "its data are damaged: restore a backup",
}

/**
 * Why a running server cannot use its own files. It may concern one table of many, so it is not a failure of the whole
 * database.
 */
export const storageWords = (error: SqlError.SqlError): string | undefined => {
  const { cause } = error.reason
  const isStorage = typeof cause === "object" && cause !== null && "file" in cause && STORAGE_FILES.has(cause.file)
  return isStorage ? BY_STORAGE[sqlState(error) ?? ""] : undefined
}

/** Undefined if the server cannot be reached and no more is known. */
export const failureWords = (error: SqlError.SqlError): string | undefined => {
  const { cause } = error.reason
  if (cause instanceof TransactionPooling || cause instanceof SessionUnfit) return cause.message
  const state = sqlState(error)
  if (state?.startsWith("28") === true) return "it rejects the login"
  if (state === undefined) return stopReasonOf(cause)
  return poolerWords(error) ?? BY_STATE[state] ?? storageWords(error)
}

/** A disk, a limit or a standby: PostgreSQL responds, but nothing can be written until someone intervenes, or it passes. */
const LASTS: ReadonlySet<string> = new Set(["25006", "53100", "53200", "53300", "58030"])

/** The words for a failure that prevents every write; undefined for all others. */
export const writeTrouble = (error: SqlError.SqlError): string | undefined =>
  LASTS.has(sqlState(error) ?? "") ? failureWords(error) : storageWords(error)

/** For the log: the same words, with the message of PostgreSQL or of the system. */
export const failureReport = (error: SqlError.SqlError): string => {
  const words = failureWords(error)
  return words === undefined ? sqlMessage(error) : `${words} (${sqlMessage(error)})`
}

/** The system's error codes for a server that is not there, or not yet: its name, its machine or its port. */
const NOT_THERE: ReadonlySet<unknown> = new Set([
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
])

const NOT_YET: ReadonlySet<string> = new Set(["25006", "53300", "57P01", "57P02", "57P03"])

/**
 * Whether the failure is likely to be temporary: a server that is away, starting, failing over or full. A wrong login,
 * a missing database and a refusal of TLS are not.
 */
export const isTemporary = (error: SqlError.SqlError): boolean => {
  const state = sqlState(error)
  const { cause, operation } = error.reason
  if (cause instanceof NoServerFits) return true
  if (state !== undefined) {
    if (!state.startsWith("08")) return NOT_YET.has(state)
    return !/unsupported startup parameter|no such database/i.test(sqlMessage(error))
  }
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  if (code === "ENOENT") return (cause as { readonly syscall?: unknown }).syscall === "connect"
  if (code !== undefined) return NOT_THERE.has(code)
  // The driver's own errors, without a system error code.
  return operation !== "connect" || /timed out|closed/i.test(sqlMessage(error))
}

/**
 * Why a server that this process started has stopped: a failed connection shows only that nothing listens there, while the
 * reason is in the server's log.
 */
const reasons = new Map<string, () => string | undefined>()

/** Where a server listens: its socket's directory, or the loopback if that is empty. */
interface Place {
  readonly socketDir: string
  readonly port: number
}

/** Gives failed connections to this server a reason, until the returned function is called. */
export const addStopReason = ({ socketDir, port }: Place, why: () => string | undefined): (() => void) => {
  const address = socketDir === "" ? `127.0.0.1:${port}` : `${socketDir}/.s.PGSQL.${port}`
  reasons.set(address, why)
  return () => void (reasons.get(address) === why && reasons.delete(address))
}

/** In words that end the sentence "the database cannot be used: …"; undefined for any other failure or server. */
export const stopReasonOf = (cause: unknown): string | undefined => {
  if (reasons.size === 0 || !(cause instanceof Error) || !("address" in cause)) return undefined
  const { address, port } = cause as { readonly address: unknown; readonly port?: unknown }
  return reasons.get(port === undefined ? String(address) : `${String(address)}:${String(port)}`)?.()
}
