/** The flags for the proof of a person that a form demands. The provider's secret comes from a file, standard input or a prompt. */
import { type FormProofChange, PROOF_KINDS, type ProofKind } from "@data-cabinet/core/proof/FormProof"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"
import { readSecretLine, secretFile } from "./SecretInput.ts"

export const proofFlags = {
  proof: Flag.Literals("proof", [...PROOF_KINDS, "none"]).pipe(
    Flag.withDescription(
      "Proof of a person that its form demands: an event without one is spam. altcha needs no provider; none ends the demand",
    ),
    Flag.optional,
  ),
  proofSiteKey: Flag.String("proof-site-key").pipe(
    Flag.withMetavar("KEY"),
    Flag.withDescription("Public key of the provider's widget (turnstile, hcaptcha)"),
    Flag.optional,
  ),
  proofSecretFile: secretFile(
    "proof-secret-file",
    "File with the provider's secret key (turnstile, hcaptcha); - for standard input or a prompt",
  ),
}

export interface ProofFlags {
  readonly proof: Option.Option<ProofKind | "none">
  readonly proofSiteKey: Option.Option<string>
  readonly proofSecretFile: Option.Option<string>
}

/** Undefined if no flag was given; null for none at all. */
export const readProof = Effect.fnUntraced(function* ({ proof, proofSiteKey, proofSecretFile: file }: ProofFlags) {
  const kind = Option.getOrUndefined(proof)
  if (kind === undefined || kind === "none") {
    if (Option.isNone(file) && Option.isNone(proofSiteKey)) return kind === "none" ? null : undefined
    const message = "--proof-site-key and --proof-secret-file need --proof turnstile or --proof hcaptcha."
    return yield* new CommandError({ code: "usage", message })
  }
  return {
    kind,
    ...(Option.isNone(proofSiteKey) ? {} : { siteKey: proofSiteKey.value }),
    ...(Option.isNone(file) ? {} : { secret: yield* readSecretLine(file.value, "The provider's secret key") }),
  } satisfies FormProofChange
})
