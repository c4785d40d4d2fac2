/** How a source verifies its requests: the setting, a change of it, and the form that intake uses. */
import * as Shape from "../json/Shape.ts"
import { type HmacChange, type HmacParameters, hmacShape, type Place, type Recipe } from "./Recipe.ts"
import { hmacRecipe } from "./HmacSetting.ts"
import { isKnown, RECIPE_NAMES, type RecipeName, RECIPES, tokenRecipe } from "./Recipes.ts"
import type { RefusalReason } from "./VerifySender.ts"

/**
 * What happens to a request whose sender is not verified. `reject`: it is refused, and nothing of it is kept. `mark`:
 * it is accepted with this verdict, and not delivered.
 */
export const VERIFICATION_MODES = ["reject", "mark"] as const
/** One of `VERIFICATION_MODES`. */
export type VerificationMode = (typeof VERIFICATION_MODES)[number]

/** The outcome of verifying a request, kept with its events. */
export interface EventVerdict {
  readonly recipe: RecipeName
  /** Why the sender is not verified; null if it is. */
  readonly refusal: RefusalReason | null
}

/** The setting, without the secrets, which are never shown again. The place is where a token is sent. */
export interface Verification extends Place {
  readonly recipe: RecipeName
  readonly mode: VerificationMode
  /** Only for the recipe `hmac`; null for the others. */
  readonly hmac: HmacParameters | null
  /** Whether the previous secret also counts. */
  readonly keepsOldSecret: boolean
}

/** The JSON of the setting and its description. */
export const verificationShape = Shape.object<Verification>(
  "How the sender is verified; null: anyone who has the intake address may send.",
  {
    recipe: Shape.oneOf(RECIPE_NAMES, "How the sender signs."),
    mode: Shape.oneOf(VERIFICATION_MODES, "What happens to a request that is not the sender's."),
    header: Shape.optional(Shape.text("The header of the token, for the recipe `token`.")),
    query: Shape.optional(Shape.text("The parameter of the query that carries the token, for the recipe `token`.")),
    field: Shape.optional(Shape.text("The field of the body that carries the token, for the recipe `token`.")),
    hmac: Shape.orNull(hmacShape),
    keepsOldSecret: Shape.flag("Whether the previous secret also counts."),
  },
)

/**
 * A change of the setting; absent fields stay unchanged. If the recipe changes, nothing carries over. The place is that of a
 * token, for the recipe `token`; a header may also be that of a signature, for the recipe `hmac`.
 */
export interface VerificationChange extends Place {
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
  readonly hmac?: HmacChange
}

/** A setting to be stored. */
export interface StoredVerification extends Omit<Verification, "keepsOldSecret"> {
  /** Undefined: the secret stays, unless the recipe changes. */
  readonly secret: string | undefined
  /** Whether the change keeps or creates an old secret. */
  readonly keepOldSecret: boolean
}

/** The settings by which intake verifies a request. */
export interface IntakeVerification extends Place {
  readonly recipe: RecipeName
  readonly mode: VerificationMode
  readonly hmac: HmacParameters | null
  /** The valid secrets, one or two; null if this process cannot decrypt them. */
  readonly secrets: ReadonlyArray<string> | null
}

/** The settings by which a sender proves its identity. */
export interface RecipeSetting extends Place {
  readonly recipe: RecipeName
  readonly hmac: HmacParameters | null
}

/** The recipe of a setting. Throws if its parameters are missing, which is a fault. */
export const recipeOf = ({ recipe, hmac, ...place }: RecipeSetting): Recipe => {
  if (isKnown(recipe)) return RECIPES[recipe]
  if (recipe === "sns") return { kind: "sns" }
  if (recipe === "token") return tokenRecipe(placeOf(place))
  if (hmac === null) throw new Error("The recipe hmac has no parameters")
  return hmacRecipe(hmac)
}

/** The place alone, without undefined members. */
export const placeOf = ({ header, query, field }: PlaceGiven): Place => ({
  ...(header === undefined ? {} : { header }),
  ...(query === undefined ? {} : { query }),
  ...(field === undefined ? {} : { field }),
})

type PlaceGiven = { readonly [Name in keyof Place]: Place[Name] | undefined }
