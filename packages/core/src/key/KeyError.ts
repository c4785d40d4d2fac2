/** The error for refused operations on API keys and upload tokens. */
import { Effect, Schema } from "effect"

export class KeyError extends Schema.TaggedError<KeyError>()("KeyError", {
  code: Schema.Literals(["no_such_key", "bad_name"]),
  message: Schema.String,
}) {}

/** Refuses a name that is blank or long; `holder` ("A key") begins the sentence. */
export const checkHolderName = (name: string, holder: string): Effect.Effect<void, KeyError> =>
  name.trim() === "" || name.length > 200
    ? Effect.fail(new KeyError({ code: "bad_name", message: `${holder} needs a name of 1 to 200 characters.` }))
    : Effect.void
