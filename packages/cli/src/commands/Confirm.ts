/**
 * Irreversible actions need a confirmation at a terminal, and `--yes` elsewhere, so that neither a slip nor a script's
 * mistake alone destroys anything.
 */
import { Effect } from "effect"
import { Flag, Prompt } from "effect/cli"
import { plainText } from "../output/PlainText.ts"
import { CommandError } from "../error/CommandError.ts"

export const yes = Flag.Boolean("yes").pipe(
  Flag.withoutNegation,
  Flag.withAlias("y"),
  Flag.withDescription("Do not ask for confirmation"),
  Flag.withDefault(false),
)

const refuse = (code: CommandError["code"], message: string) => Effect.fail(new CommandError({ code, message }))

const ask = (message: string) =>
  Prompt.run(Prompt.Confirm({ message: plainText(message), initial: false })).pipe(
    Effect.catch(() => Effect.succeed(false)),
    Effect.flatMap((isConfirmed) => (isConfirmed ? Effect.void : refuse("refused", "Cancelled; nothing was changed."))),
  )

const isAtTerminal = () => process.stdin.isTTY && process.stderr.isTTY

/** Asks a person at a terminal before something stops working; a script is assumed to mean it. */
export const confirmedByPerson = (said: boolean, question: string) =>
  Effect.suspend(() => (said || !isAtTerminal() ? Effect.void : ask(question)))

/** Fails unless it was confirmed before or is confirmed now; `question` ends with a question mark. */
export const confirmed = (said: boolean, question: string) => {
  if (said) return Effect.void
  if (!isAtTerminal()) {
    return refuse("usage", `${question} This cannot be undone: pass --yes to confirm.`)
  }
  return ask(`${question} This cannot be undone.`)
}
