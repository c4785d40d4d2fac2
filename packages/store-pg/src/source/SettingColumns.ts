/** Maps the given settings of a source to the columns that store them. */
import type { StoredChallenge } from "@data-cabinet/core/verification/Challenge"
import type { StoredFormProof } from "@data-cabinet/core/proof/FormProof"
import type { StoredSourceChange } from "@data-cabinet/core/source/SourceStore"
import type { StoredVerification } from "@data-cabinet/core/verification/Verification"
import { SOURCE_SETTINGS } from "@data-cabinet/core/source/SourceSettings"
import { Result } from "effect"
import { randomBytes } from "node:crypto"
import type { SecretCipher } from "../key/SecretCipher.ts"
import { settingJson } from "./SourceRow.ts"

/** Values by column; undefined leaves a column unchanged. */
export type Columns = Readonly<Record<string, unknown>>

/** The secrets that a source has now, each with the recipe or provider it belongs to. */
export interface CurrentSecrets {
  readonly recipe: string | null
  readonly verify_secret: string | null
  readonly verify_old_secret: string | null
  readonly challenge: string | null
  readonly challenge_secret: string | null
  readonly proof: string | null
  readonly proof_secret: string | null
}

export const CURRENT_SECRETS = `s.verify->>'recipe' AS recipe, s.verify_secret, s.verify_old_secret, s.challenge, s.challenge_secret,
  s.proof, s.proof_secret`

export const NO_SECRETS: CurrentSecrets = {
  recipe: null,
  verify_secret: null,
  verify_old_secret: null,
  challenge: null,
  challenge_secret: null,
  proof: null,
  proof_secret: null,
}

export const settingColumns = (cipher: SecretCipher, given: StoredSourceChange, now: CurrentSecrets): Columns => ({
  name: given.name,
  ...Object.fromEntries(SOURCE_SETTINGS.all.map(({ key, name }) => [name, given[key]])),
  ...verifyColumns(cipher, given.verify, now),
  ...challengeColumns(cipher, given.challenge, now),
  ...proofColumns(cipher, given.proof, now),
})

const verifyColumns = (
  cipher: SecretCipher,
  verify: StoredVerification | null | undefined,
  now: CurrentSecrets,
): Columns => {
  if (verify === undefined) return {}
  if (verify === null) return { verify: null, verify_secret: null, verify_old_secret: null }
  const current = verify.recipe === now.recipe ? now : NO_SECRETS
  const secret = isRepeated(cipher, verify, current) ? undefined : verify.secret
  return {
    verify: settingJson(verify),
    verify_secret: secret === undefined ? current.verify_secret : cipher.encrypt("verification secret", secret),
    verify_old_secret: !verify.keepOldSecret
      ? null
      : secret === undefined
        ? current.verify_old_secret
        : current.verify_secret,
  }
}

/** Whether a rotation repeats the last one, for example after a lost response: it then keeps both secrets. */
const isRepeated = (cipher: SecretCipher, verify: StoredVerification, { verify_secret: stored }: CurrentSecrets) => {
  if (verify.secret === undefined || !verify.keepOldSecret || stored === null) return false
  const secret = cipher.decrypt("verification secret", stored)
  return Result.isSuccess(secret) && secret.success === verify.secret
}

const challengeColumns = (
  cipher: SecretCipher,
  challenge: StoredChallenge | null | undefined,
  now: CurrentSecrets,
): Columns => {
  if (challenge === undefined) return {}
  if (challenge === null) return { challenge: null, challenge_secret: null }
  const stored = challenge.provider === now.challenge ? now.challenge_secret : null
  const { secret } = challenge
  return {
    challenge: challenge.provider,
    challenge_secret: secret === undefined ? stored : cipher.encrypt("challenge secret", secret),
  }
}

const proofColumns = (
  cipher: SecretCipher,
  proof: StoredFormProof | null | undefined,
  now: CurrentSecrets,
): Columns => {
  if (proof === undefined) return {}
  if (proof === null) return { proof: null, proof_site_key: null, proof_secret: null }
  const stored = proof.kind === now.proof ? now.proof_secret : null
  const secret = proof.secret ?? (proof.kind === "altcha" && stored === null ? newProofKey() : undefined)
  return {
    proof: proof.kind,
    proof_site_key: proof.siteKey,
    proof_secret: secret === undefined ? stored : cipher.encrypt("proof secret", secret),
  }
}

const newProofKey = (): string => randomBytes(32).toString("base64url")
