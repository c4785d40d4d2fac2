/** The error for refused operations on API keys and access tokens. */
import { Effect, Schema } from "effect"
import { isLifetime } from "./Lifetime.ts"

export class KeyError extends Schema.TaggedError<KeyError>()("KeyError", {
  code: Schema.Literals(["no_such_key", "bad_name", "bad_expiry", "bad_role"]),
  message: Schema.String,
}) {}

/** Refuses a name that is blank or long; `holder` ("A key") begins the sentence. */
export const checkHolderName = (name: string, holder: string): Effect.Effect<void, KeyError> =>
  name.trim() === "" || name.length > 200
    ? Effect.fail(new KeyError({ code: "bad_name", message: `${holder} needs a name of 1 to 200 characters.` }))
    : Effect.void

/** Refuses a time to expiry that is not null and not a minute to ten years. */
export const checkLifetime = (seconds: number | null): Effect.Effect<void, KeyError> =>
  seconds === null || isLifetime(seconds)
    ? Effect.void
    : Effect.fail(
        new KeyError({ code: "bad_expiry", message: "An expiry must be 60 to 315,360,000 whole seconds from now." }),
      )
