/** The result of changing the proof that the form of a source demands. Refuses kinds, keys and secrets that do not fit. */
import { Effect } from "effect"
import {
  type FormProof,
  type FormProofChange,
  MAX_SITE_KEY_LENGTH,
  PROOF_KINDS,
  type StoredFormProof,
} from "../proof/FormProof.ts"
import { unusableSecret } from "./ChangeVerification.ts"
import { SourceError } from "./SourceError.ts"

const refuse = (message: string): Effect.Effect<never, SourceError> =>
  Effect.fail(new SourceError({ code: "bad_proof", message: `proof: ${message}` }))

const SITE_KEY = /^[\w.-]+$/

/** The setting after a change. `current`: the setting so far; null without one. */
export const changedProof = (
  current: FormProof | null,
  { kind, siteKey: given, secret }: FormProofChange,
): Effect.Effect<StoredFormProof, SourceError> => {
  if (!PROOF_KINDS.includes(kind)) return refuse(`the kind must be one of ${PROOF_KINDS.join(", ")}.`)
  if (kind === "altcha") {
    return (given ?? null) === null && secret === undefined
      ? Effect.succeed({ kind, siteKey: null, secret })
      : refuse("altcha has no provider, and so neither a site key nor a secret.")
  }
  const isSame = current?.kind === kind
  const siteKey = given ?? (isSame ? current.siteKey : null)
  if (siteKey === null) return refuse(`${kind} needs the site key that the provider shows for the form.`)
  if (siteKey.length > MAX_SITE_KEY_LENGTH || !SITE_KEY.test(siteKey)) {
    return refuse(`a site key has 1 to ${MAX_SITE_KEY_LENGTH} letters, digits, dots, dashes and underscores.`)
  }
  if (secret === undefined) {
    return isSame ? Effect.succeed({ kind, siteKey, secret }) : refuse(`${kind} needs its secret key.`)
  }
  const misfit = unusableSecret(secret)
  return misfit === null ? Effect.succeed({ kind, siteKey, secret }) : refuse(misfit)
}
