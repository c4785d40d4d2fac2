/** How a source verifies its requests: the setting, a change of it, and the form that intake uses. */
import type { HmacParameters, Recipe } from "./Recipe.ts"
import { hmacRecipe, type RecipeName, RECIPES } from "./Recipes.ts"
import type { RefusalReason } from "./VerifySender.ts"

/**
 * What happens to a request whose sender is not verified. `reject`: it is refused, and nothing of it is kept. `mark`:
 * it is accepted with this verdict, and not delivered.
 */
export const VERIFICATION_MODES = ["reject", "mark"] as const
export type VerificationMode = (typeof VERIFICATION_MODES)[number]

/** The outcome of verifying a request, kept with its events. */
export interface EventVerdict {
  readonly recipe: RecipeName
  /** Why the sender is not verified; null if it is. */
  readonly refusal: RefusalReason | null
}

/** The setting, without the secrets, which are never shown again. */
export interface Verification {
  readonly recipe: RecipeName
  readonly mode: VerificationMode
  /** Only for the recipe `hmac`; null for the others. */
  readonly hmac: HmacParameters | null
  /** Whether the previous secret also counts. */
  readonly keepsOldSecret: boolean
}

/** A change of the setting; absent fields stay unchanged. If the recipe changes, nothing carries over. */
export interface VerificationChange {
  readonly recipe?: RecipeName
  /** What happens to a request whose sender is not verified; default: `reject`. */
  readonly mode?: VerificationMode
  /** The secret that the sender signs with. Required with another recipe. */
  readonly secret?: string
  /**
   * With a secret: whether the previous one stays valid until it is dropped, as during a rotation; false by default.
   * Without a secret, false drops the old one.
   */
  readonly keepOldSecret?: boolean
  /** Only for the recipe `hmac`. */
  readonly hmac?: Partial<HmacParameters>
}

/** A setting to be stored. */
export interface StoredVerification extends Omit<Verification, "keepsOldSecret"> {
  /** Undefined: the secret stays, unless the recipe changes. */
  readonly secret: string | undefined
  /** Whether the change keeps or creates an old secret. */
  readonly keepOldSecret: boolean
}

/** The settings by which intake verifies a request. */
export interface IntakeVerification {
  readonly recipe: RecipeName
  readonly mode: VerificationMode
  readonly hmac: HmacParameters | null
  /** The valid secrets, one or two; null if this process cannot decrypt them. */
  readonly secrets: ReadonlyArray<string> | null
}

export const recipeOf = ({ recipe, hmac }: Pick<Verification, "recipe" | "hmac">): Recipe => {
  if (recipe !== "hmac") return RECIPES[recipe]
  if (hmac === null) throw new Error("The recipe hmac has no parameters")
  return hmacRecipe(hmac)
}
