/**
 * Input that does not belong on a command line, where every user of the machine can see it in the process list and the
 * shell stores it: it is read from a file, from standard input, or from a prompt that does not echo.
 */
import { readFile } from "node:fs/promises"
import { Effect } from "effect"
import { Flag, Prompt } from "effect/cli"
import { Redacted } from "effect"
import { CommandError } from "../error/CommandError.ts"

/** The text of a file, or of standard input if its name is `-`; `what` begins the sentence of a refusal. */
export const readInput = (file: string, what: string): Effect.Effect<string, CommandError> =>
  Effect.tryPromise({
    try: async () => {
      if (file !== "-") return await readFile(file, "utf8")
      const chunks: Array<Buffer> = []
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks).toString("utf8")
    },
    catch: (error) =>
      new CommandError({ code: "refused", message: `${what} cannot be read: ${(error as Error).message}.` }),
  })

/** Prompts without echo; on a terminal only. */
export const askHidden = (message: string) =>
  Effect.map(Prompt.run(Prompt.Hidden({ message })), Redacted.value).pipe(
    Effect.mapError(() => new CommandError({ code: "refused", message: "Nothing was entered." })),
  )

/** One line of a secret: from a file, from standard input (`-`), or from a prompt if `-` is a terminal. */
export const readSecretLine = (file: string, what: string) =>
  Effect.gen(function* () {
    if (file === "-" && process.stdin.isTTY) return (yield* askHidden(what)).trim()
    const text = (yield* readInput(file, what)).trim()
    if (!/^[^\r\n]+$/.test(text)) {
      return yield* new CommandError({ code: "refused", message: `${what} must be a single line.` })
    }
    return text
  })

export const secretFile = (name: string, about: string) =>
  Flag.String(name).pipe(Flag.withMetavar("FILE"), Flag.withDescription(about), Flag.optional)
