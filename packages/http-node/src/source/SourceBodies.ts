/** The settings of sources in the bodies of requests. */
import { PROVIDER_NAMES } from "@data-cabinet/core/source/Providers"
import { SOURCE_SETTINGS } from "@data-cabinet/core/source/SourceSettings"
import { Schema } from "effect"
import { camelFields, nameField } from "../manage/ManageBodies.ts"
import { settingFields, settingParams } from "../manage/SettingBodies.ts"
import { challenge, proof, proofOf, verification, verificationOf } from "../verification/VerificationBodies.ts"

const settings = {
  ...settingFields(SOURCE_SETTINGS),
  from: Schema.optionalKey(
    Schema.Literals(PROVIDER_NAMES).annotate({
      description:
        "A well-known sender: adds the headers that its events need, and verifies with its recipe where `verify` has a secret.",
    }),
  ),
  verify: Schema.optionalKey(Schema.NullOr(verification)),
  challenge: Schema.optionalKey(Schema.NullOr(challenge)),
  proof: Schema.optionalKey(Schema.NullOr(proof)),
}

/** The members of `settings` as the use case takes them. */
export const settingsOf = <B extends Pick<typeof newSource.Type, "verify" | "proof">>({
  verify,
  proof: given,
  ...body
}: B) => ({
  ...camelFields(body),
  ...(verify === undefined ? {} : { verify: verificationOf(verify) }),
  ...(given === undefined ? {} : { proof: proofOf(given) }),
})

export const newSource = Schema.Struct({ name: nameField, ...settings })
export const sourceChange = Schema.Struct({
  name: Schema.optionalKey(nameField),
  ...settings,
  archived: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "True switches it off: its intake address responds with 404." }),
  ),
})
/** The errors of settings. */
export const SETTINGS_ERRORS = [
  "bad_name",
  ...SOURCE_SETTINGS.errors.map(({ code }) => code),
  "bad_verify",
  "bad_verify_secret",
  "bad_challenge",
  "bad_proof",
  "bad_from",
] as const

/** The member of a body that each error is about. */
export const SETTINGS_PARAMS = {
  bad_name: "/name",
  ...settingParams(SOURCE_SETTINGS),
  bad_verify: "/verify",
  bad_verify_secret: "/verify/secret",
  bad_challenge: "/challenge",
  bad_proof: "/proof",
  bad_from: "/from",
} as const
