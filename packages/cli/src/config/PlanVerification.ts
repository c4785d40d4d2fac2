/** How a source's sender is verified and answered: what changes, and which secrets the change needs. */
import { snakeKeys } from "@data-cabinet/core/json/KeyCase"
import { changedChallenge } from "@data-cabinet/core/source/ChangeChallenge"
import { changedProof } from "@data-cabinet/core/source/ChangeProof"
import { changedVerification } from "@data-cabinet/core/source/ChangeVerification"
import type { SourceError } from "@data-cabinet/core/source/SourceError"
import type { SourceChange } from "@data-cabinet/core/source/SourceStore"
import type { FormProof } from "@data-cabinet/core/proof/FormProof"
import type { Challenge } from "@data-cabinet/core/verification/Challenge"
import type { HmacChange, HmacParameters } from "@data-cabinet/core/verification/Recipe"
import { placeOf, type Verification, type VerificationChange } from "@data-cabinet/core/verification/Verification"
import { Effect, Result } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { Entry } from "./FileSchema.ts"
import type { Path, Problem } from "./Problem.ts"
import { type FieldChange, type Planning, SECRET } from "./Step.ts"

/** What becomes of one setting with a secret. */
export interface PlannedChange {
  readonly fields: ReadonlyArray<FieldChange>
  /** Members of a source's change. */
  readonly change: Pick<SourceChange, "verify" | "challenge" | "proof">
  readonly problems: ReadonlyArray<Problem>
}

const NONE: PlannedChange = { fields: [], change: {}, problems: [] }

const problem = (path: Path, message: string): PlannedChange => ({ ...NONE, problems: [{ path, message }] })

const needsSecret = (path: Path, what: string) =>
  problem(path, `${what} needs its secret, which the cabinet does not have: write secret: env:NAME or file:PATH.`)

const outcome = <A>(effect: Effect.Effect<A, SourceError>) => Effect.runSync(Effect.result(effect))

/** The setting as a file shows it, without its secret. */
export const verificationJson = ({ recipe, mode, hmac, ...place }: Omit<Verification, "keepsOldSecret">) => ({
  recipe,
  mode,
  ...placeOf(place),
  ...(hmac === null ? {} : { hmac: snakeKeys(hmac) as object }),
})

/** Every parameter, so that those that the file omits are taken away. */
const wholeHmac = (hmac: HmacParameters): HmacChange => ({
  field: null,
  value: null,
  signed: null,
  timestampField: null,
  idHeader: null,
  ...hmac,
})

/** Of the same recipe without parameters: what the file omits has its default, not its current value. */
const bare = (recipe: Verification["recipe"]): Verification => ({
  recipe,
  mode: "reject",
  hmac: null,
  keepsOldSecret: false,
})

const sentAgain = (isSent: boolean, before: string | null): ReadonlyArray<FieldChange> =>
  isSent ? [{ name: "secret", before, after: SECRET }] : []

interface WantedVerification {
  readonly current: Verification | null
  /** Null: none. */
  readonly wanted: VerificationChange | null
  /** Where its secret is. */
  readonly secret: string | undefined
  readonly path: Path
}

/** What becomes of a source's verification. */
export const planVerification = (
  { current, wanted, secret: reference, path }: WantedVerification,
  { references, sendSecrets }: Planning,
): PlannedChange => {
  if (wanted === null) {
    if (current === null) return NONE
    const fields = [{ name: "verify", before: verificationJson(current), after: null }]
    return { fields, change: { verify: null }, problems: [] }
  }
  if (wanted.recipe === undefined) return problem([...path, "recipe"], "is missing: name the recipe of the sender.")
  const isNew = current?.recipe !== wanted.recipe
  if (isNew && reference === undefined) return needsSecret(path, wanted.recipe)
  const isSent = reference !== undefined && (isNew || sendSecrets)
  const found = references.problems.length
  const secret = isSent ? references.read(reference, [...path, "secret"]) : undefined
  if (references.problems.length > found) return NONE
  const checked = outcome(
    changedVerification(bare(wanted.recipe), { ...wanted, ...(secret === undefined ? {} : { secret }) }),
  )
  if (Result.isFailure(checked)) {
    const { code, message } = checked.failure
    return problem(code === "bad_verify_secret" ? [...path, "secret"] : path, message)
  }
  const { recipe, mode, hmac, secret: _, keepOldSecret: __, ...place } = checked.success
  const after = verificationJson({ recipe, mode, hmac, ...place })
  const before = current === null ? null : verificationJson(current)
  const isSame = isDeepStrictEqual(before, after)
  if (isSame && !isSent) return NONE
  return {
    fields: [
      ...(isSame ? [] : [{ name: "verify", before, after }]),
      ...sentAgain(isSent, isNew ? null : SECRET).map((field) => ({ ...field, name: "verify.secret" })),
    ],
    change: {
      verify: {
        recipe,
        mode,
        ...place,
        ...(hmac === null ? {} : { hmac: wholeHmac(hmac) }),
        ...(secret === undefined ? {} : { secret }),
      },
    },
    problems: [],
  }
}

interface WantedChallenge {
  readonly current: Challenge | null
  readonly wanted: (Entry<"sources">["challenge"] & {}) | null
  readonly path: Path
}

/** What becomes of the challenge that a source answers. */
export const planChallenge = (
  { current, wanted, path }: WantedChallenge,
  { references, sendSecrets }: Planning,
): PlannedChange => {
  if (wanted === null) {
    if (current === null) return NONE
    return {
      fields: [{ name: "challenge", before: { ...current }, after: null }],
      change: { challenge: null },
      problems: [],
    }
  }
  const { provider, secret: reference } = wanted
  const isNew = current?.provider !== provider
  const isSent = reference !== undefined && (isNew || sendSecrets)
  const found = references.problems.length
  const secret = isSent ? references.read(reference, [...path, "secret"]) : undefined
  if (references.problems.length > found) return NONE
  const sent = { provider, ...(secret === undefined ? {} : { secret }) }
  const checked = outcome(changedChallenge(isNew ? null : current, sent))
  if (Result.isFailure(checked)) return problem(path, checked.failure.message)
  if (!isNew && !isSent) return NONE
  return {
    fields: [
      ...(isNew ? [{ name: "challenge", before: current === null ? null : { ...current }, after: { provider } }] : []),
      ...sentAgain(isSent, isNew ? null : SECRET).map((field) => ({ ...field, name: "challenge.secret" })),
    ],
    change: { challenge: sent },
    problems: [],
  }
}

interface WantedProof {
  readonly current: FormProof | null
  readonly wanted: (Entry<"sources">["proof"] & {}) | null
  readonly path: Path
}

/** The setting as a file shows it, without its secret. */
export const proofJson = ({ kind, siteKey }: FormProof) => ({
  kind,
  ...(siteKey === null ? {} : { site_key: siteKey }),
})

/** What becomes of the proof of a person that a source's form demands. */
export const planProof = (
  { current, wanted, path }: WantedProof,
  { references, sendSecrets }: Planning,
): PlannedChange => {
  const before = current === null ? null : proofJson(current)
  if (wanted === null) {
    if (current === null) return NONE
    return { fields: [{ name: "proof", before, after: null }], change: { proof: null }, problems: [] }
  }
  const { kind, site_key: siteKey, secret: reference } = wanted
  const isNew = current?.kind !== kind
  const isSent = reference !== undefined && (isNew || sendSecrets)
  const found = references.problems.length
  const secret = isSent ? references.read(reference, [...path, "secret"]) : undefined
  if (references.problems.length > found) return NONE
  const sent = {
    kind,
    ...(siteKey === undefined ? {} : { siteKey }),
    ...(secret === undefined ? {} : { secret }),
  }
  const checked = outcome(changedProof(isNew ? null : current, sent))
  if (Result.isFailure(checked)) return problem(path, checked.failure.message)
  const after = proofJson(checked.success)
  const isSame = isDeepStrictEqual(before, after)
  if (isSame && !isSent) return NONE
  return {
    fields: [
      ...(isSame ? [] : [{ name: "proof", before, after }]),
      ...sentAgain(isSent, isNew ? null : SECRET).map((field) => ({ ...field, name: "proof.secret" })),
    ],
    change: { proof: sent },
    problems: [],
  }
}
