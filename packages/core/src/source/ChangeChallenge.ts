/** The result of changing the challenge that a source answers. Refuses providers and secrets that do not fit. */
import { Effect } from "effect"
import {
  CHALLENGE_PROVIDERS,
  type Challenge,
  type ChallengeChange,
  type StoredChallenge,
} from "../verification/Challenge.ts"
import { unusableSecret } from "./ChangeVerification.ts"
import { SourceError } from "./SourceError.ts"

const refuse = (message: string): Effect.Effect<never, SourceError> =>
  Effect.fail(new SourceError({ code: "bad_challenge", message: `challenge: ${message}` }))

/** `current`: the setting so far; null without one. */
export const changedChallenge = (
  current: Challenge | null,
  { provider, secret }: ChallengeChange,
): Effect.Effect<StoredChallenge, SourceError> => {
  if (!CHALLENGE_PROVIDERS.includes(provider)) {
    return refuse(`the provider must be one of ${CHALLENGE_PROVIDERS.join(", ")}.`)
  }
  if (provider === "graph" || provider === "dropbox") {
    return secret === undefined ? Effect.succeed({ provider, secret }) : refuse(`${provider} asks without a secret.`)
  }
  if (secret === undefined) {
    return current?.provider === provider
      ? Effect.succeed({ provider, secret })
      : refuse(
          provider === "meta"
            ? "meta needs the verify token that it was given."
            : "x needs the consumer secret of the app.",
        )
  }
  const misfit = unusableSecret(secret)
  return misfit === null ? Effect.succeed({ provider, secret }) : refuse(misfit)
}
