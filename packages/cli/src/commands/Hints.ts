/** Hints that only a command can add to a use case's refusal: which of its flags helps. */
import { Effect } from "effect"
import { CommandError } from "../error/CommandError.ts"

/** Adds a sentence to the refusals with these codes; passes on any other error unchanged. */
export const withHints =
  (hints: Readonly<Record<string, string>>) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | CommandError, R> =>
    Effect.mapError(work, (error) => {
      if (!(error instanceof Error && "code" in error && typeof error.code === "string")) return error
      const hint = hints[error.code]
      return hint === undefined ? error : new CommandError({ code: "refused", message: `${error.message} ${hint}` })
    })
