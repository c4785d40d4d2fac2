/**
 * Locks between processes that use one data directory. They are the operating system's own file locks, which end with the
 * process however it ends, so there are never stale ones. Node offers such locks only through SQLite, so each lock is an
 * empty SQLite file; nothing is ever stored in it.
 *
 * There are three files, always locked in this order:
 * - `serve.lock`: held exclusively by the one `serve`.
 * - `users.lock`: shared by all users of the database; the last one to leave locks it exclusively and stops the server.
 * - `start.lock`: held exclusively while checking for a running server and starting one.
 */
import { chmodSync, closeSync, openSync, statSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { Effect, Random } from "effect"
import { attempt } from "./Attempt.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"

export interface HeldLock {
  readonly release: () => void
}

/**
 * Acquires the lock at once, or returns undefined if it is held.
 *
 * @throws EmbeddedPostgresError `bad_data_dir` if the file cannot be used at all
 */
export const tryLock = (file: string, mode: "alone" | "shared"): HeldLock | undefined => {
  let database: DatabaseSync | undefined
  try {
    makePrivate(file)
    database = new (sqlite().DatabaseSync)(file)
    // Nothing is ever committed. A journal in a file would need room on the disk, and a full disk is when `doctor` is run.
    database.exec("PRAGMA journal_mode = MEMORY")
    if (mode === "alone") database.exec("BEGIN EXCLUSIVE")
    else {
      database.exec("BEGIN")
      database.prepare("SELECT count(*) FROM sqlite_master").get()
    }
    const held = database
    return { release: () => held.close() }
  } catch (error) {
    database?.close()
    const { errcode, code, message } = error as Error & { readonly errcode?: number; readonly code?: string }
    if (errcode === sqliteBusy) return undefined
    const advice =
      errcode === sqliteFull || code === "ENOSPC"
        ? "Free some space on its disk."
        : "Run as the user who owns the data directory, or choose another with --data-dir."
    throw new EmbeddedPostgresError({
      code: "bad_data_dir",
      message: `The file ${file} cannot be locked (${message}). ${advice}`,
    })
  }
}

/**
 * Any user who may read the file may lock it, and another user's shared lock would keep the server from starting and
 * stopping. An existing file is never opened for this: closing it would release the locks that this process holds on
 * it.
 */
const makePrivate = (file: string): void => {
  const known = statSync(file, { throwIfNoEntry: false })
  if (known === undefined) {
    try {
      closeSync(openSync(file, "wx", 0o600))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
  } else if ((known.mode & 0o077) !== 0 && process.platform !== "win32") chmodSync(file, 0o600)
}

const sqliteBusy = 5
/** `SQLITE_FULL`. */
const sqliteFull = 13

/**
 * Not imported: a Node without it would fail on the import, before any message could be given. Node 22 warns on loading
 * that it is experimental, which does not help an operator.
 */
const sqlite = () => {
  const emitWarning: unknown = Reflect.get(process, "emitWarning")
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule("node:sqlite")
  } finally {
    Object.assign(process, { emitWarning })
  }
}

/**
 * Tries up to `times`, about `pauseMillis` apart, with jitter so that two that started at once do not keep colliding.
 * Returns undefined if the lock was held each time.
 */
export const lockWithin = (
  file: string,
  mode: "alone" | "shared",
  times: number,
  pauseMillis: number,
): Effect.Effect<HeldLock | undefined, EmbeddedPostgresError> =>
  Effect.gen(function* () {
    for (let left = times; left > 0; left -= 1) {
      const lock = yield* attempt(async () => tryLock(file, mode))
      if (lock !== undefined) return lock
      if (left > 1) yield* Effect.sleep(pauseMillis * (0.5 + (yield* Random.next)))
    }
    return undefined
  })

/** Waits two minutes for the lock; then fails with `busy` and a message that begins with `fact`. */
export const waitForLock = (
  file: string,
  mode: "alone" | "shared",
  fact: string,
): Effect.Effect<HeldLock, EmbeddedPostgresError> =>
  Effect.flatMap(lockWithin(file, mode, 2400, 50), (lock) =>
    lock !== undefined
      ? Effect.succeed(lock)
      : Effect.fail(
          new EmbeddedPostgresError({
            code: "busy",
            message: `${fact} for two minutes. Look for it, end it, and try again.`,
          }),
        ),
  )
