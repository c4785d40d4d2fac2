/**
 * Lets the plain async code below the supervisor fail with typed errors: an exception is our error, the disk's, or a defect.
 */
import { Effect } from "effect"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { reasonIn } from "./LastWords.ts"

export const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, EmbeddedPostgresError> =>
  Effect.promise(() =>
    run().then(
      (value) => Effect.succeed(value),
      (error: unknown) => {
        const expected = error instanceof EmbeddedPostgresError ? error : ofDisk(error)
        return expected === undefined ? Effect.die(error) : Effect.fail(expected)
      },
    ),
  ).pipe(Effect.flatten)

/** The system's codes for a disk that refuses a file. */
const OF_DISK: ReadonlySet<unknown> = new Set(["EDQUOT", "EIO", "ENOSPC", "EROFS"])

const ofDisk = (error: unknown): EmbeddedPostgresError | undefined => {
  if (!(error instanceof Error) || !("code" in error) || !OF_DISK.has(error.code)) return undefined
  return new EmbeddedPostgresError({
    code: "bad_data_dir",
    message: `The embedded database cannot be used: ${reasonIn(error.message)} (${error.message}). Nothing is lost. Fix this, then repeat the command.`,
  })
}
