/**
 * Locks between processes that use one data directory. They are the operating
 * system's own file locks, which end with the process however it ends, so there
 * is never a stale one to judge. Node offers such locks only through SQLite, so
 * each lock is an empty SQLite file; nothing is ever stored in it.
 *
 * Three files, always taken in this order:
 * - `serve.lock`: held alone by the one `serve`.
 * - `users.lock`: shared by everybody who uses the database; who leaves last takes it alone and stops the server.
 * - `start.lock`: held alone for the moment of looking whether a server runs and starting one.
 */
import type { DatabaseSync } from "node:sqlite"
import { Effect, Random } from "effect"
import { attempt } from "./Attempt.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"

export interface HeldLock {
  readonly release: () => void
}

/**
 * Takes the lock at once, or gives undefined when somebody is in the way.
 * @throws EmbeddedPostgresError `bad_data_dir` when the file cannot be used at all
 */
export const tryLock = (file: string, mode: "alone" | "shared"): HeldLock | undefined => {
  let database: DatabaseSync | undefined
  try {
    // Not imported: a Node without it would fail at that, before anything could be said.
    database = new (process.getBuiltinModule("node:sqlite").DatabaseSync)(file)
    if (mode === "alone") database.exec("BEGIN EXCLUSIVE")
    else {
      database.exec("BEGIN")
      database.prepare("SELECT count(*) FROM sqlite_master").get()
    }
    const held = database
    return { release: () => held.close() }
  } catch (error) {
    database?.close()
    if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined
    throw new EmbeddedPostgresError({
      code: "bad_data_dir",
      message: `The file ${file} cannot be locked (${(error as Error).message}). Run as the user who owns the data directory, or choose another with --data-dir.`,
    })
  }
}

const sqliteBusy = 5

/**
 * Tries up to `times`, some `pauseMillis` apart, a little by chance so that two who came at once do not keep colliding.
 * Gives undefined when somebody was in the way each time.
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

/** Waits two minutes for the lock; then `busy`, whose message begins with `fact`. */
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
