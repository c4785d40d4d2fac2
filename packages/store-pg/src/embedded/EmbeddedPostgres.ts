/**
 * The PostgreSQL that Data Cabinet ships with: used if no DATABASE_URL is given.
 *
 *   const { url } = yield* EmbeddedPostgres.serve({ dataDir: ".cabinet" })     // for `serve`
 *   const { url } = yield* EmbeddedPostgres.join({ dataDir: ".cabinet" })      // for all others
 *   OwnerClient.layer({ url })
 *
 * `url` names the unix socket's directory in its `host` parameter, which `@effect/sql-pg`, `psql`
 * and libpq all understand; the same as fields: `{ host: socketDir, port: 5432, username: "cabinet", database: "cabinet" }`.
 *
 * Rules:
 * - At most one process serves a data directory; a second one is refused.
 * - Any number may join, before, alongside and after it. The first user starts the server, and the last to leave stops
 *   it: a server outlives the `serve` that started it as long as a `worker` still uses it.
 * - A server left behind by a killed process is used as it is; one that dies while in use is restarted under the same
 *   address within about a second, and connection pools find it.
 * - A server whose users were all killed, or exited without closing, is stopped half a minute later (see Watchdog).
 */
import { background } from "@data-cabinet/core/runtime/Background"
import { copyFileSync, statSync, truncateSync } from "node:fs"
import { Effect, type Scope } from "effect"
import { bootstrap, ownerDatabase, ownerRole } from "./Bootstrap.ts"
import { startWatchdog, stopWatchdog, releaseWatchdog, LINGER_MILLIS } from "./Watchdog.ts"
import { closeCluster } from "./CloseCluster.ts"
import { type DataDir, dataDirAt, makeDataDir, readNote, writeNote } from "./DataDir.ts"
import { attempt } from "./Attempt.ts"
import { type HeldLock, lockWithin, waitForLock } from "./DataDirLock.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { lastWordsOf, reasonWithWords, stoppedBecause } from "./LastWords.ts"
import { removeEndpoint, type Transport } from "./Endpoint.ts"
import { maxLogBytes, stopPostmaster } from "./Postmaster.ts"
import { isServerOf, readPostmasterPid } from "./PostmasterPid.ts"
import { ensureRunning, type RunningServer, superuser } from "./RunningServer.ts"
import { addStopReason } from "../connection/FailureWords.ts"

export interface EmbeddedOptions {
  /** Created if it does not exist. */
  readonly dataDir: string
  /** Default: a unix socket; on Windows, TCP on 127.0.0.1 with a password. */
  readonly transport?: Transport
  /** The directory of the programs of the machine's own PostgreSQL; default: the shipped one. */
  readonly bin?: string | undefined
  /**
   * A TCP port of the loopback for reports, null for none. It applies when a server starts; left out, the port that was set
   * when it last started stays. With TCP as the transport it is the port for all.
   */
  readonly reportsPort?: number | null | undefined
  /** How long the server stays after its last user was killed. Default: half a minute. */
  readonly lingerMillis?: number
}

export interface EmbeddedDatabase {
  /** The connection URL of the cabinet's owner, which is not a superuser but may create roles and databases. */
  readonly url: string
  /** Only for backup and maintenance of the whole cluster. */
  readonly superuserUrl: string
  /** The connection URL of a role and a database on the same server. */
  readonly urlFor: (role: string, database: string) => string
  /** Empty with TCP. */
  readonly socketDir: string
  readonly dataDir: string
  /** `found` running, `started` by us, or `created` new and empty. */
  readonly origin: "found" | "started" | "created"
}

/** Holds the data directory as its one server until the scope closes. */
export const serve = (options: EmbeddedOptions): Effect.Effect<EmbeddedDatabase, EmbeddedPostgresError, Scope.Scope> =>
  Effect.gen(function* () {
    const dir = yield* attempt(() => dataDir(options))
    yield* Effect.acquireRelease(serveLock(dir), (lock) => Effect.sync(lock.release))
    const database = yield* use(dir, options)
    yield* Effect.acquireRelease(noteServing(dir, process.pid), () => noteServing(dir, undefined))
    return database
  })

/** Uses the running server, or starts it for as long as any process needs it. */
export const join = (options: EmbeddedOptions): Effect.Effect<EmbeddedDatabase, EmbeddedPostgresError, Scope.Scope> =>
  Effect.flatMap(
    attempt(() => dataDir(options)),
    (dir) => use(dir, options),
  )

/** Whether a data directory holds a cluster, so that a command can report a missing one instead of creating it. */
export const exists = (dataDirPath: string): boolean => isCluster(dataDirAt(dataDirPath))

const isCluster = (dir: DataDir): boolean => {
  try {
    return statSync(dir.pgdata, { throwIfNoEntry: false }) !== undefined
  } catch {
    // Another user's, and not readable: using it fails with a message.
    return true
  }
}

const dataDir = async (options: EmbeddedOptions): Promise<DataDir> => {
  const dir = dataDirAt(options.dataDir)
  makeDataDir(dir)
  return dir
}

const use = (dir: DataDir, options: EmbeddedOptions) =>
  Effect.gen(function* () {
    const { reportsPort } = options
    const transport = options.transport ?? (process.platform === "win32" ? "tcp" : "socket")
    yield* Effect.acquireRelease(
      waitForLock(dir.usersLock, "shared", `Another process has been stopping the database in ${dir.root}`),
      (lock) => leave(dir, lock),
      { interruptible: true },
    )
    const start = running(dir, transport, options)
    const { endpoint, origin } = yield* start
    if (origin === "found" && reportsPort !== undefined && reportsPort !== (readNote(dir).reportsPort ?? null)) {
      yield* Effect.logWarning(
        `The database in ${dir.root} was started with another CABINET_POSTGRES_PORT; the new one applies once all processes that use the database have ended`,
      )
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => addStopReason(endpoint, stoppedBecause(dir.logFile))),
      (forget) => Effect.sync(forget),
    )
    yield* background("embedded PostgreSQL watch", "1 second", watch(dir, start))
    const database: EmbeddedDatabase = {
      url: endpoint.urlFor(ownerRole, ownerDatabase),
      superuserUrl: endpoint.urlFor(superuser, ownerDatabase),
      urlFor: endpoint.urlFor,
      socketDir: endpoint.socketDir,
      dataDir: dir.root,
      origin,
    }
    return database
  })

/** Starts or finds the server under the start lock; uninterruptible, so that a Ctrl-C leaves no half-started process. */
const running = (
  dir: DataDir,
  transport: Transport,
  { bin, reportsPort, lingerMillis = LINGER_MILLIS }: EmbeddedOptions,
): Effect.Effect<RunningServer, EmbeddedPostgresError> =>
  Effect.acquireUseRelease(
    waitForLock(dir.startLock, "alone", `Another process has been starting the database in ${dir.root}`),
    () =>
      Effect.gen(function* () {
        const found = yield* attempt(() => ensureRunning(dir, transport, { bin, reportsPort }))
        if (found.origin !== "found") startWatchdog(dir, found.server.pid, lingerMillis)
        if (found.origin === "created" || readNote(dir).bootstrapped !== true) {
          yield* bootstrap(found.endpoint, superuser)
          yield* attempt(async () => writeNote(dir, { ...readNote(dir), bootstrapped: true }))
        }
        // Checked on each start, because another cluster may have been put in place. A running one was checked by its
        // starter.
        if (found.origin !== "found" || readNote(dir).closed !== true) {
          const closed = yield* closeCluster(found.endpoint, { superuser, owner: ownerRole })
          yield* attempt(async () => writeNote(dir, { ...readNote(dir), closed }))
        }
        return found
      }).pipe(Effect.uninterruptible),
    (lock) => Effect.sync(lock.release),
  )

/**
 * Checks that the server still runs and that its log is within bounds. Reports once that it has stopped, and why,
 * however many attempts to start it fail. The background task reports those failures, also once.
 */
const watch = (dir: DataDir, start: Effect.Effect<unknown, EmbeddedPostgresError>) => {
  let isDown = false
  return Effect.gen(function* () {
    boundLog(dir.logFile)
    const file = readPostmasterPid(dir.pgdata)
    const alive = file !== undefined && (yield* Effect.promise(() => isServerOf(dir.pgdata, file)))
    if (!alive) {
      if (!isDown) {
        isDown = true
        const words = lastWordsOf(dir.logFile)
        const why = words === undefined ? "" : `: ${reasonWithWords(words)}`
        yield* Effect.logWarning(`The embedded PostgreSQL has stopped; restarting it${why}`)
      }
      yield* start
    }
    if (!isDown) return
    isDown = false
    yield* Effect.logWarning("The embedded PostgreSQL is running again")
  })
}

/** The server opens its log for appending, so the file can be copied and truncated while it is open. */
const boundLog = (logFile: string): void => {
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) <= maxLogBytes) return
  copyFileSync(logFile, `${logFile}.old`)
  truncateSync(logFile)
}

/** The last user to leave acquires the lock exclusively and stops the server; no process can join meanwhile. */
const leave = (dir: DataDir, mine: HeldLock): Effect.Effect<void> =>
  Effect.gen(function* () {
    mine.release()
    const alone = yield* lockWithin(dir.usersLock, "alone", 3, 20)
    if (alone === undefined) return releaseWatchdog(dir)
    const stopped = yield* attempt(async () => {
      const file = readPostmasterPid(dir.pgdata)
      const how = file === undefined ? "fast" : await stopPostmaster(dir.pgdata, file)
      stopWatchdog(dir)
      removeEndpoint(dir)
      return how
    }).pipe(Effect.ensuring(Effect.sync(alone.release)))
    if (stopped === "immediate") {
      yield* Effect.logWarning(
        "A session of the embedded PostgreSQL did not end on request, so the server was stopped at once. Nothing is lost; its next start recovers as after a crash",
      )
    }
  }).pipe(
    Effect.catchCause((cause) => Effect.logError("The embedded PostgreSQL cannot be stopped", cause)),
    Effect.uninterruptible,
  )

/** Retries for four seconds, because the previous holder may be about to end. */
const serveLock = (dir: DataDir): Effect.Effect<HeldLock, EmbeddedPostgresError> =>
  Effect.flatMap(lockWithin(dir.serveLock, "alone", 40, 100), (lock) => {
    if (lock !== undefined) return Effect.succeed(lock)
    const pid = readNote(dir).servingPid
    return Effect.fail(
      new EmbeddedPostgresError({
        code: "already_served",
        message: `Another server${pid === undefined ? "" : ` (process ${pid})`} already serves ${dir.root}. Stop it, use it as it is (all other commands work beside it), or serve another directory with --data-dir.`,
      }),
    )
  })

/** A hint for the message of a second server: nothing fails for it, not even on a full disk. */
const noteServing = (dir: DataDir, pid: number | undefined): Effect.Effect<void> => {
  const { servingPid: _, ...note } = readNote(dir)
  return Effect.ignore(attempt(async () => writeNote(dir, pid === undefined ? note : { ...note, servingPid: pid })))
}
