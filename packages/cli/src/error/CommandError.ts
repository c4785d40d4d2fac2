/** Refusals by a command itself, in addition to those of its use cases. */
import { Schema } from "effect"

/** `usage` is an invalid call (exit code 2), `refused` a valid call that cannot be carried out (exit code 1). */
export class CommandError extends Schema.TaggedError<CommandError>()("CommandError", {
  code: Schema.Literals(["usage", "refused"]),
  message: Schema.String,
}) {}
