/** What a command refuses by itself, beyond what the use cases behind it refuse. */
import { Schema } from "effect"

/** `usage` is a wrong call (exit code 2), `refused` a right call that cannot be done (exit code 1). */
export class CommandError extends Schema.TaggedError<CommandError>()("CommandError", {
  code: Schema.Literals(["usage", "refused"]),
  message: Schema.String,
}) {}
