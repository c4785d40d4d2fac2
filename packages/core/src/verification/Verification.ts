/** How a source has its requests verified: the setting, a change of it, and what intake verifies by. */
import type { HmacParameters, Recipe } from "./Recipe.ts"
import { hmacRecipe, type RecipeName, RECIPES } from "./Recipes.ts"
import type { RefusalReason } from "./VerifySender.ts"

/**
 * What happens to a request that is not its sender's. `reject`: it is refused, and nothing of it is kept; `mark`: it is accepted
 * with this verdict, and not delivered.
 */
export const VERIFICATION_MODES = ["reject", "mark"] as const
export type VerificationMode = (typeof VERIFICATION_MODES)[number]

/** What came of the verification of a request, which is kept with its events. */
export interface EventVerdict {
  readonly recipe: RecipeName
  /** Why the request is not its sender's; null if it is. */
  readonly refusal: RefusalReason | null
}

/** The setting, without the secrets, which nobody reads again. */
export interface Verification {
  readonly recipe: RecipeName
  readonly mode: VerificationMode
  /** Of the recipe `hmac` alone; null for the others. */
  readonly hmac: HmacParameters | null
  /** Whether the secret before this one counts too. */
  readonly keepsOldSecret: boolean
}

/** A change of the setting; absent fields stay unchanged. Of another recipe than before, everything is new. */
export interface VerificationChange {
  readonly recipe?: RecipeName
  /** What happens to a request that is not its sender's; `reject` by default. */
  readonly mode?: VerificationMode
  /** The secret that the sender signs with. Required with another recipe. */
  readonly secret?: string
  /**
   * With a secret: whether the one before counts beside it until it is dropped, as during a rotation; false by default.
   * Without: false drops the old one.
   */
  readonly keepOldSecret?: boolean
  /** Of the recipe `hmac` alone. */
  readonly hmac?: Partial<HmacParameters>
}

/** A setting to be stored. */
export interface StoredVerification extends Omit<Verification, "keepsOldSecret"> {
  /** Undefined: the secret stays, if the recipe is the one that it was. */
  readonly secret: string | undefined
  /** Whether an old secret stays, or comes to be. */
  readonly keepOldSecret: boolean
}

/** What intake verifies a request by. */
export interface IntakeVerification {
  readonly recipe: RecipeName
  readonly mode: VerificationMode
  readonly hmac: HmacParameters | null
  /** Those that count, one or two; null if this process cannot decrypt them. */
  readonly secrets: ReadonlyArray<string> | null
}

export const recipeOf = ({ recipe, hmac }: Pick<Verification, "recipe" | "hmac">): Recipe => {
  if (recipe !== "hmac") return RECIPES[recipe]
  if (hmac === null) throw new Error("The recipe hmac has no parameters")
  return hmacRecipe(hmac)
}
