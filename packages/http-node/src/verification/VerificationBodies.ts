/** How a sender is verified and answered, in the bodies of requests. */
import { MAX_HEADER_NAME_LENGTH } from "@data-cabinet/core/network/HeaderNames"
import { MAX_VERIFY_SECRET_LENGTH } from "@data-cabinet/core/source/ChangeVerification"
import { type FormProofChange, MAX_SITE_KEY_LENGTH, PROOF_KINDS } from "@data-cabinet/core/proof/FormProof"
import { CHALLENGE_PROVIDERS } from "@data-cabinet/core/verification/Challenge"
import { MAX_SIGNATURE_PREFIX_LENGTH, MAX_TOLERANCE_SECONDS } from "@data-cabinet/core/verification/HmacSetting"
import { HMAC_ALGORITHMS, type HmacChange, SIGNATURE_ENCODINGS } from "@data-cabinet/core/verification/Recipe"
import { RECIPE_NAMES } from "@data-cabinet/core/verification/Recipes"
import { MAX_PATTERN_LENGTH } from "@data-cabinet/core/verification/SignedPattern"
import { MAX_FIELD_NAME_LENGTH } from "@data-cabinet/core/verification/TokenPlace"
import { VERIFICATION_MODES, type VerificationChange } from "@data-cabinet/core/verification/Verification"
import { Schema } from "effect"
import { text } from "../manage/ManageBodies.ts"

const header = (description: string) => text(MAX_HEADER_NAME_LENGTH, description)

const hmac = Schema.Struct({
  header: Schema.optionalKey(
    Schema.NullOr(header("The header of the signature; required with the recipe, unless `field` is given.")),
  ),
  field: Schema.optionalKey(
    Schema.NullOr(
      text(MAX_FIELD_NAME_LENGTH, "The field of the body with the signature; in JSON also a path with dots."),
    ),
  ),
  value: Schema.optionalKey(
    Schema.NullOr(
      text(
        MAX_PATTERN_LENGTH,
        "How the header is written, such as `t={timestamp},v1={signature}`; instead of `prefix`.",
      ),
    ),
  ),
  signed: Schema.optionalKey(
    Schema.NullOr(
      text(
        MAX_PATTERN_LENGTH,
        "What is signed, of `{body}`, `{timestamp}`, `{id}`, `{url}` and `{field:NAME}`; null: the body, after the timestamp and a dot if there is one.",
      ),
    ),
  ),
  timestamp_field: Schema.optionalKey(
    Schema.NullOr(text(MAX_FIELD_NAME_LENGTH, "The field of the body with the signed time.")),
  ),
  id_header: Schema.optionalKey(Schema.NullOr(header("The header with the signed number of the message."))),
  algorithm: Schema.optionalKey(
    Schema.Literals(HMAC_ALGORITHMS).annotate({ description: "The hash function; `sha256` by default." }),
  ),
  encoding: Schema.optionalKey(
    Schema.Literals(SIGNATURE_ENCODINGS).annotate({ description: "How the signature is written; `hex` by default." }),
  ),
  prefix: Schema.optionalKey(text(MAX_SIGNATURE_PREFIX_LENGTH, "The beginning of the signature, such as `sha256=`.")),
  timestamp_header: Schema.optionalKey(
    Schema.NullOr(
      header(
        "The header with the signed time: seconds or milliseconds since 1970, or RFC 3339; null: no header has it.",
      ),
    ),
  ),
  tolerance_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_TOLERANCE_SECONDS })).annotate({
      description: "How far the timestamp may be from now; 300 by default.",
    }),
  ),
}).annotate({ description: "How the sender signs, only for the recipe `hmac`." })

export const verification = Schema.Struct({
  recipe: Schema.optionalKey(
    Schema.Literals(RECIPE_NAMES).annotate({ description: "How the sender signs; absent: as before." }),
  ),
  mode: Schema.optionalKey(
    Schema.Literals(VERIFICATION_MODES).annotate({
      description:
        "What happens to a request that is not the sender's; `reject` by default: a 401. `mark`: it is accepted, marked, and not delivered.",
    }),
  ),
  secret: Schema.optionalKey(
    text(MAX_VERIFY_SECRET_LENGTH, "The sender's secret; required with another recipe. It is never shown."),
  ),
  keep_old_secret: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "With a secret: whether the previous one stays valid beside it, false by default. Without a secret, false drops the old one.",
    }),
  ),
  header: Schema.optionalKey(header("Only for the recipe `token`: the header that carries it.")),
  query: Schema.optionalKey(
    text(MAX_FIELD_NAME_LENGTH, "Only for the recipe `token`: the parameter of the query that carries it."),
  ),
  field: Schema.optionalKey(
    text(
      MAX_FIELD_NAME_LENGTH,
      "Only for the recipe `token`: the field of the body that carries it; in JSON also a path with dots.",
    ),
  ),
  hmac: Schema.optionalKey(hmac),
}).annotate({ description: "How the sender is verified; null: anyone who has the intake address may send." })

export const challenge = Schema.Struct({
  provider: Schema.Literals(CHALLENGE_PROVIDERS).annotate({ description: "Who asks." }),
  secret: Schema.optionalKey(
    text(
      MAX_VERIFY_SECRET_LENGTH,
      "Of `meta` the verify token, of `x` the consumer secret; required with another provider, and never shown.",
    ),
  ),
}).annotate({
  description: "The provider whose question about the address is answered; null: none but those of the recipe.",
})

export const proof = Schema.Struct({
  kind: Schema.Literals(PROOF_KINDS).annotate({ description: "What proves it; `altcha` needs no provider." }),
  site_key: Schema.optionalKey(
    Schema.NullOr(
      text(MAX_SITE_KEY_LENGTH, "The public key of the provider's widget; required with another provider."),
    ),
  ),
  secret: Schema.optionalKey(
    text(
      MAX_VERIFY_SECRET_LENGTH,
      "The provider's secret key; required with another provider, and never shown. `altcha` has none.",
    ),
  ),
}).annotate({
  description: "The proof of a person that its form demands: events without one are spam; null: none.",
})

/** The members of `proof` as the use case takes them. */
export const proofOf = (given: typeof proof.Type | null): FormProofChange | null => {
  if (given === null) return null
  const { site_key: siteKey, ...change } = given
  return { ...change, ...(siteKey === undefined ? {} : { siteKey }) }
}

/** The members of `verify` as the use case takes them. */
export const verificationOf = (given: typeof verification.Type | null): VerificationChange | null => {
  if (given === null) return null
  const { hmac: parameters, keep_old_secret: keepOldSecret, ...change } = given
  return {
    ...change,
    ...(keepOldSecret === undefined ? {} : { keepOldSecret }),
    ...(parameters === undefined ? {} : { hmac: parametersOf(parameters) }),
  }
}

const parametersOf = ({
  timestamp_header: timestampHeader,
  tolerance_seconds: toleranceSeconds,
  timestamp_field: timestampField,
  id_header: idHeader,
  ...given
}: typeof hmac.Type): HmacChange => ({
  ...given,
  ...(timestampField === undefined ? {} : { timestampField }),
  ...(idHeader === undefined ? {} : { idHeader }),
  ...(timestampHeader === undefined ? {} : { timestampHeader }),
  ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
})
