/**
 * The proof of a person that the form of a source demands: a solved ALTCHA challenge of the cabinet, or a token of Turnstile or
 * hCaptcha. An event without a valid proof is spam: it is kept, and can be restored.
 *
 * Decision: docs/decisions/0102-a-proof-of-a-person-marks-and-never-refuses.md
 */
import * as Shape from "../json/Shape.ts"

/** `altcha` needs no provider: the browser solves a challenge of the cabinet. */
export const PROOF_KINDS = ["altcha", "turnstile", "hcaptcha"] as const
/** One of `PROOF_KINDS`. */
export type ProofKind = (typeof PROOF_KINDS)[number]

/** The longest site key, in characters. */
export const MAX_SITE_KEY_LENGTH = 200

/** The setting, without its secret, which is never shown. */
export interface FormProof {
  readonly kind: ProofKind
  /** The public key of the provider's widget; null for `altcha`. */
  readonly siteKey: string | null
}

/** The JSON of the setting and its description. */
export const formProofShape = Shape.object<FormProof>(
  "The proof of a person that its form demands: events without one are spam; null: none.",
  {
    kind: Shape.oneOf(PROOF_KINDS, "What proves it; `altcha` needs no provider."),
    siteKey: Shape.orNull(Shape.text("The public key of the provider's widget; null for `altcha`.")),
  },
)

/** A change of the setting. */
export interface FormProofChange {
  readonly kind: ProofKind
  /** Absent: the current one stays. */
  readonly siteKey?: string | null
  /** The provider's secret key. Absent: the current one stays. */
  readonly secret?: string
}

/** A setting to be stored. The key of `altcha` is drawn when it is stored. */
export interface StoredFormProof extends FormProof {
  /** Undefined: the secret stays, unless the kind changes. */
  readonly secret: string | undefined
}

/** The setting with which intake checks. */
export interface IntakeProof extends FormProof {
  /** The key of the challenges, or the provider's secret key; null if this process cannot decrypt it. */
  readonly secret: string | null
}

/** The fields that the widgets add to a form, the one with the proof first. None of them becomes part of an event. */
export const PROOF_FIELDS: { readonly [K in ProofKind]: readonly [string, ...ReadonlyArray<string>] } = {
  altcha: ["altcha"],
  turnstile: ["cf-turnstile-response", "g-recaptcha-response"],
  hcaptcha: ["h-captcha-response", "g-recaptcha-response"],
}

const WIDGET_FIELDS: ReadonlySet<string> = new Set(Object.values(PROOF_FIELDS).flat())

/** Whether some widget adds this field. */
export const isProofField = (name: string): boolean => WIDGET_FIELDS.has(name)
