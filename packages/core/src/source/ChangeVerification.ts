/** The result of changing a source's verification. Refuses unsuitable recipes, parameters and secrets. */
import { Effect } from "effect"
import { SourceError } from "./SourceError.ts"
import { changedHmac } from "../verification/HmacSetting.ts"
import type { HmacChange, HmacParameters, Place, Recipe } from "../verification/Recipe.ts"
import { isKnown, RECIPE_NAMES, type RecipeName, RECIPES } from "../verification/Recipes.ts"
import { isTopic } from "../verification/SnsMessage.ts"
import { placeMisfit } from "../verification/TokenPlace.ts"
import {
  placeOf,
  type StoredVerification,
  VERIFICATION_MODES,
  type Verification,
  type VerificationChange,
} from "../verification/Verification.ts"

/** The longest secret, in characters. */
export const MAX_VERIFY_SECRET_LENGTH = 1000

type Refusal = Effect.Effect<never, SourceError>

const refuse = (message: string): Refusal => Effect.fail(new SourceError({ code: "bad_verify", message }))
const refuseSecret = (message: string): Refusal => Effect.fail(new SourceError({ code: "bad_verify_secret", message }))

/** `current`: the setting so far; null without one. */
export const changedVerification = (
  current: Verification | null,
  change: VerificationChange,
): Effect.Effect<StoredVerification, SourceError> =>
  Effect.gen(function* () {
    const recipe = change.recipe ?? current?.recipe
    if (recipe === undefined) {
      return yield* refuse(`verify: the source has no recipe yet; name one of ${RECIPE_NAMES.join(", ")}.`)
    }
    if (!RECIPE_NAMES.includes(recipe)) {
      return yield* refuse(`verify: the recipe must be one of ${RECIPE_NAMES.join(", ")}.`)
    }
    const mode = change.mode ?? current?.mode ?? "reject"
    if (!VERIFICATION_MODES.includes(mode)) {
      return yield* refuse(`verify: the mode must be one of ${VERIFICATION_MODES.join(", ")}.`)
    }
    const { secret } = change
    const before = current?.recipe === recipe ? current : null
    if (secret === undefined && before === null) {
      return yield* refuseSecret(`verify: the recipe ${recipe} needs the secret that the sender signs with.`)
    }
    if (secret !== undefined) {
      const misfit = secretMisfit(recipe, secret)
      if (misfit !== null) return yield* refuseSecret(`verify: ${misfit}`)
    }
    if (change.keepOldSecret === true && before === null) {
      return yield* refuseSecret("verify: this recipe has no earlier secret to keep.")
    }
    const { place: given, hmac: parameters } = sorted(recipe, change)
    const hmac = yield* changedParameters(recipe, before?.hmac ?? null, parameters)
    const place = yield* changedPlace(recipe, before, given)
    return { recipe, mode, hmac, ...place, secret, keepOldSecret: change.keepOldSecret ?? secret === undefined }
  })

// eslint-disable-next-line no-control-regex -- none of them is in a secret that can be sent or entered
const CONTROL = /[\0-\x1f\x7f]/
const BASE64 = /^[0-9A-Za-z+/]{4,}={0,2}$/

/** Why this cannot be a secret, in words; null if it can. */
export const unusableSecret = (secret: string): string | null => {
  if (secret.length === 0 || secret.length > MAX_VERIFY_SECRET_LENGTH) {
    return `a secret has 1 to ${MAX_VERIFY_SECRET_LENGTH} characters.`
  }
  if (CONTROL.test(secret) || !secret.isWellFormed()) return "a secret has no control characters."
  // It would pass for an encrypted one.
  return secret.startsWith("enc.v1.") ? "a secret cannot begin with enc.v1." : null
}

/** Why this cannot be the secret of this recipe, in words; null if it can. */
const secretMisfit = (recipe: RecipeName, secret: string): string | null => {
  const misfit = unusableSecret(secret)
  if (misfit !== null) return misfit
  if (recipe === "sns" && !isTopic(secret)) {
    return "the secret of sns is the ARN of its topic, such as arn:aws:sns:us-east-1:123456789012:orders."
  }
  if (!isKnown(recipe)) return null
  const known: Recipe = RECIPES[recipe]
  if (known.kind === "hmac") {
    return known.secret === "text" || BASE64.test(secret.replace(/^whsec_/, ""))
      ? null
      : `a secret of ${recipe} is base64, usually with whsec_ before it.`
  }
  return known.form === "basic" && !secret.includes(":") ? "a secret of basic is a name, a colon and a password." : null
}

const changedParameters = (
  recipe: RecipeName,
  before: HmacParameters | null,
  change: HmacChange | undefined,
): Effect.Effect<HmacParameters | null, SourceError> => {
  if (recipe !== "hmac") {
    return change === undefined
      ? Effect.succeed(null)
      : refuse(`verify: only the recipe hmac has parameters; how ${recipe} signs is known.`)
  }
  const changed = changedHmac(before, change ?? {})
  return typeof changed === "string" ? refuse(`verify: ${changed}`) : Effect.succeed(changed)
}

/** The place of a signature may be given like that of a token, so that a change need not name the recipe. */
const sorted = (recipe: RecipeName, change: VerificationChange) => {
  const { query, ...place } = placeOf(change)
  return recipe === "hmac"
    ? { place: placeOf({ query }), hmac: { ...place, ...change.hmac } }
    : { place: placeOf(change), hmac: change.hmac }
}

/** `before`: the place so far; null if the recipe is new. */
const changedPlace = (
  recipe: RecipeName,
  before: Verification | null,
  change: Place,
): Effect.Effect<Place, SourceError> => {
  const count = Object.keys(change).length
  if (recipe !== "token") {
    return count === 0
      ? Effect.succeed({})
      : refuse("verify: only the recipe token takes the place of a token: header, query or field.")
  }
  if (count > 1) return refuse("verify: a token is in one place: a header, a parameter of the query or a field.")
  const place = count === 1 ? change : placeOf(before ?? {})
  const misfit = placeMisfit(place)
  return misfit === null ? Effect.succeed(place) : refuse(`verify: ${misfit}`)
}
