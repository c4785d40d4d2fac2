/** Why a database could not be copied to another server. Every message is a sentence for a person at a terminal. */
import { Data } from "effect"

/**
 * - `no_programs`: the machine has no `pg_dump` or `pg_restore`, or too old ones.
 * - `unfit`: the target is not an empty database of the same name, or lacks a right.
 * - `busy`: something in the old database kept its locks for too long.
 * - `failed`: a program failed, or the copy is not whole.
 */
export type CopyErrorCode = "no_programs" | "unfit" | "busy" | "failed"

export class CopyError extends Data.TaggedError("CopyError")<{
  readonly code: CopyErrorCode
  readonly message: string
}> {}
