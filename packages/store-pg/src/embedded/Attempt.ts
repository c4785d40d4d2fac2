/** Lets the plain asynchronous code below the supervisor fail in words: what it throws is either ours, or a defect. */
import { Effect } from "effect"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"

export const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, EmbeddedPostgresError> =>
  Effect.promise(() =>
    run().then(
      (value) => Effect.succeed(value),
      (error: unknown) => (error instanceof EmbeddedPostgresError ? Effect.fail(error) : Effect.die(error)),
    ),
  ).pipe(Effect.flatten)
