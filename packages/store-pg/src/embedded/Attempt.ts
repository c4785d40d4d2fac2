/**
 * Lets the plain async code below the supervisor fail with typed errors: an exception is either our error, or a defect.
 */
import { Effect } from "effect"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"

export const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, EmbeddedPostgresError> =>
  Effect.promise(() =>
    run().then(
      (value) => Effect.succeed(value),
      (error: unknown) => (error instanceof EmbeddedPostgresError ? Effect.fail(error) : Effect.die(error)),
    ),
  ).pipe(Effect.flatten)
