/**
 * The flags for the challenge that a provider sends before its events. Its secret comes from a file, standard input or
 * a prompt.
 */
import {
  CHALLENGE_PROVIDERS,
  type ChallengeChange,
  type ChallengeProvider,
} from "@data-cabinet/core/verification/Challenge"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"
import { readSecretLine, secretFile } from "./SecretInput.ts"

export const challengeFlags = {
  challenge: Flag.Literals("challenge", [...CHALLENGE_PROVIDERS, "none"]).pipe(
    Flag.withDescription(
      "Answer the challenge that this provider sends to the intake address first; none to answer no challenge",
    ),
    Flag.optional,
  ),
  challengeSecretFile: secretFile(
    "challenge-secret-file",
    "File with the verify token (meta) or the consumer secret (x); - for standard input or a prompt",
  ),
}

export interface ChallengeFlags {
  readonly challenge: Option.Option<ChallengeProvider | "none">
  readonly challengeSecretFile: Option.Option<string>
}

/** Undefined if no flag was given; null for none at all. */
export const readChallenge = Effect.fnUntraced(function* ({ challenge, challengeSecretFile: file }: ChallengeFlags) {
  const provider = Option.getOrUndefined(challenge)
  if (provider === undefined || provider === "none") {
    if (Option.isNone(file)) return provider === "none" ? null : undefined
    const message = "--challenge-secret-file needs --challenge, and a provider that has a secret."
    return yield* new CommandError({ code: "usage", message })
  }
  if (Option.isNone(file)) return { provider } satisfies ChallengeChange
  return { provider, secret: yield* readSecretLine(file.value, "The provider's secret") } satisfies ChallengeChange
})
