/** The error for refused operations on API keys and access tokens. */
import { Effect, Schema } from "effect"
import { isLifetime } from "./Lifetime.ts"

export class KeyError extends Schema.TaggedError<KeyError>()("KeyError", {
  code: Schema.Literals(["no_such_key", "bad_name", "bad_expiry", "bad_role", "bad_only", "no_such_table"]),
  message: Schema.String,
}) {}

/** Refuses a name that is blank or long; `holder` ("A key") begins the sentence. */
export const checkHolderName = (name: string, holder: string): Effect.Effect<void, KeyError> =>
  name.trim() === "" || name.length > 200
    ? Effect.fail(new KeyError({ code: "bad_name", message: `${holder} needs a name of 1 to 200 characters.` }))
    : Effect.void

/** How many objects a token's list may name. */
export const MAX_LISTED = 100

/** Refuses a list that is empty or long, or for another role than `reader`. */
export const checkList = (role: string, only: ReadonlyArray<string> | null): Effect.Effect<void, KeyError> => {
  const refuse = (message: string) => Effect.fail(new KeyError({ code: "bad_only", message }))
  if (only === null) return Effect.void
  if (role !== "reader")
    return refuse(`Only a token of the role reader can have a list of objects; this one is ${role}.`)
  return only.length === 0 || only.length > MAX_LISTED
    ? refuse(`A list must name 1 to ${MAX_LISTED} tables and views.`)
    : Effect.void
}

/** Refuses a time to expiry that is not null and not a minute to ten years. */
export const checkLifetime = (seconds: number | null): Effect.Effect<void, KeyError> =>
  seconds === null || isLifetime(seconds)
    ? Effect.void
    : Effect.fail(
        new KeyError({ code: "bad_expiry", message: "An expiry must be 60 to 315,360,000 whole seconds from now." }),
      )

const MAX_KEEP_OLD_SECONDS = 30 * 86_400

/** Refuses a time for which a replaced key stays valid that is not null and not a minute to 30 days. */
export const checkKeepOld = (seconds: number | null): Effect.Effect<void, KeyError> =>
  seconds === null || (isLifetime(seconds) && seconds <= MAX_KEEP_OLD_SECONDS)
    ? Effect.void
    : Effect.fail(new KeyError({ code: "bad_expiry", message: "The old key can be kept for a minute to 30 days." }))
