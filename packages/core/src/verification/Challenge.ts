/**
 * The providers whose challenge a source can answer, besides those whose recipe includes one.
 *
 * Decision: docs/decisions/0068-questions-of-providers.md
 */
import * as Shape from "../json/Shape.ts"

/** `meta`, `x` and `dropbox` send a GET; `graph` (Microsoft Graph) sends a POST without a body. */
export const CHALLENGE_PROVIDERS = ["meta", "x", "graph", "dropbox"] as const
/** One of `CHALLENGE_PROVIDERS`. */
export type ChallengeProvider = (typeof CHALLENGE_PROVIDERS)[number]

/** The setting, without its secret, which is never shown again. */
export interface Challenge {
  readonly provider: ChallengeProvider
}

/** The JSON of the setting and its description. */
export const challengeShape = Shape.object<Challenge>(
  "The provider whose question about the address is answered; null: none but those of the recipe.",
  { provider: Shape.oneOf(CHALLENGE_PROVIDERS, "Who asks.") },
)

/** A change of the setting. */
export interface ChallengeChange extends Challenge {
  /** The verify token of `meta`, the consumer secret of `x`; the others have none. Absent: the current one stays. */
  readonly secret?: string
}

/** A setting to be stored. */
export interface StoredChallenge extends Challenge {
  /** Undefined: the secret stays, unless the provider changes. */
  readonly secret: string | undefined
}

/** The settings with which intake responds. */
export interface IntakeChallenge extends Challenge {
  /** Empty for a provider without one; null if this process cannot decrypt it. */
  readonly secret: string | null
}
