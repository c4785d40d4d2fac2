/**
 * The URL of a delivery address or a poll. It may itself be a secret, as a chat's incoming webhook is, and then it does not
 * belong among the arguments: `--url-file FILE` takes it instead.
 */
import { Effect, Option } from "effect"
import { CommandError } from "../error/CommandError.ts"
import { readSecretLine, secretFile } from "./SecretInput.ts"

export const urlFile = secretFile(
  "url-file",
  "A file with the URL, for one that contains a secret; - for standard input or a prompt",
)

/** The URL of a call; none if it was given in neither way. `called` is the name of the other way. */
export const readUrl = (given: Option.Option<string>, file: Option.Option<string>, called: string) =>
  Effect.gen(function* () {
    if (Option.isNone(file)) return given
    if (Option.isSome(given)) {
      return yield* new CommandError({ code: "usage", message: `Either ${called} or --url-file, not both.` })
    }
    return Option.some(yield* readSecretLine(file.value, "The URL"))
  })

/** The same for a required URL. */
export const requireUrl = (given: Option.Option<string>, file: Option.Option<string>) =>
  Effect.flatMap(readUrl(given, file, "a URL"), (url) =>
    Option.isSome(url)
      ? Effect.succeed(url.value)
      : Effect.fail(
          new CommandError({
            code: "usage",
            message: "The URL is missing: pass it as an argument or with --url-file.",
          }),
        ),
  )
