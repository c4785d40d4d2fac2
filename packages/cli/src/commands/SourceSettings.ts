/** The flags of a source: its settings, its verification, its challenges and its proof of a person. */
import { SOURCE_SETTINGS, type SourceSettings } from "@data-cabinet/core/source/SourceSettings"
import type { SourceChange } from "@data-cabinet/core/source/Sources"
import { PROVIDER_NAMES, type ProviderName } from "@data-cabinet/core/source/Providers"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { challengeFlags, type ChallengeFlags, readChallenge } from "./ChallengeFlags.ts"
import { proofFlags, type ProofFlags, readProof } from "./ProofFlags.ts"
import { declaredFlags, readSettings as readDeclared, type SettingInput } from "./SettingFlags.ts"
import { readVerification, type VerifyFlags, verifyFlags } from "./VerifyFlags.ts"

export const sourceFlags = {
  from: Flag.Literals("from", PROVIDER_NAMES).pipe(
    Flag.withDescription(
      "A well-known sender: keeps the headers that its events need; with --verify-secret-file also verifies its signatures",
    ),
    Flag.optional,
  ),
  ...declaredFlags(SOURCE_SETTINGS),
  ...verifyFlags,
  ...challengeFlags,
  ...proofFlags,
}

interface SourceFlags extends SettingInput<SourceSettings>, VerifyFlags, ChallengeFlags, ProofFlags {
  readonly from: Option.Option<ProviderName>
}

/** Reads a secret from where the flags say, before anything else is opened. */
export const readSettings = (input: SourceFlags) =>
  Effect.gen(function* () {
    const verify = yield* readVerification(input)
    const challenge = yield* readChallenge(input)
    const proof = yield* readProof(input)
    const settings: Omit<SourceChange, "name"> = {
      ...(Option.isNone(input.from) ? {} : { from: input.from.value }),
      ...(yield* readDeclared(SOURCE_SETTINGS, input)),
      ...(verify === undefined ? {} : { verify }),
      ...(challenge === undefined ? {} : { challenge }),
      ...(proof === undefined ? {} : { proof }),
    }
    return settings
  })
