/**
 * Why the embedded PostgreSQL could not be used. Every message is a sentence for a person at a terminal and ends with a
 * remedy.
 */
import { Data } from "effect"

/**
 * - `no_binaries`: no PostgreSQL is shipped for this platform, or it does not run.
 * - `bad_data_dir`: the directory cannot be created, written or reached, or is not ours.
 * - `already_served`: another `serve` holds the data directory.
 * - `busy`: another process was starting or stopping the database for too long.
 * - `no_unprivileged_user`: we are root and found no way to run PostgreSQL as another user.
 * - `init_failed`: a new cluster could not be created.
 * - `start_failed`: the server did not start.
 * - `stop_failed`: the server did not stop in time.
 * - `incompatible`: the data was written by another major version of PostgreSQL.
 * - `backup_refused`, `restore_refused`: there is nothing to back up, or something is in the way.
 * - `backup_failed`, `restore_failed`: the disk or the database failed; nothing was changed.
 * - `bad_backup`: the file is not a backup, is damaged, or does not fit here.
 */
export type EmbeddedPostgresErrorCode =
  | "no_binaries"
  | "bad_data_dir"
  | "already_served"
  | "busy"
  | "no_unprivileged_user"
  | "init_failed"
  | "start_failed"
  | "stop_failed"
  | "incompatible"
  | "backup_refused"
  | "backup_failed"
  | "restore_refused"
  | "restore_failed"
  | "bad_backup"

export class EmbeddedPostgresError extends Data.TaggedError("EmbeddedPostgresError")<{
  readonly code: EmbeddedPostgresErrorCode
  readonly message: string
}> {}
