/** The settings of sources in the bodies of requests. */
import type { Snake } from "@data-cabinet/core/json/KeyCase"
import type { AnySetting } from "@data-cabinet/core/source/Setting"
import {
  ALL_SETTINGS,
  SETTING_ERRORS,
  type SettingErrorCode,
  type SourceSettings,
} from "@data-cabinet/core/source/SourceSettings"
import { PROVIDER_NAMES } from "@data-cabinet/core/source/Providers"
import { Schema } from "effect"
import { camelFields, nameField, text } from "../manage/ManageBodies.ts"
import { challenge, verification, verificationOf } from "../verification/VerificationBodies.ts"

const fieldOf = ({ about, input }: AnySetting): Schema.Top => {
  switch (input.kind) {
    case "choice":
      return Schema.NullOr(Schema.Literals(input.values)).annotate({ description: about })
    case "text":
      return Schema.NullOr(text(input.maxLength, about))
    case "names":
      return Schema.Array(text(input.maxLength, input.item))
        .check(Schema.isMaxLength(input.most))
        .annotate({ description: about })
    case "whole":
      return Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: input.least, maximum: input.most }))).annotate({
        description: about,
      })
    case "flag":
      return Schema.Boolean.annotate({ description: about })
  }
}

type SettingFields = {
  readonly [K in keyof SourceSettings as Snake<K>]: Schema.optionalKey<Schema.Codec<SourceSettings[K]>>
}

const settings = {
  ...(Object.fromEntries(
    ALL_SETTINGS.map(({ name, setting }) => [name, Schema.optionalKey(fieldOf(setting))]),
  ) as unknown as SettingFields),
  from: Schema.optionalKey(
    Schema.Literals(PROVIDER_NAMES).annotate({
      description:
        "A well-known sender: adds the headers that its events need, and verifies with its recipe where `verify` has a secret.",
    }),
  ),
  verify: Schema.optionalKey(Schema.NullOr(verification)),
  challenge: Schema.optionalKey(Schema.NullOr(challenge)),
}

/** The members of `settings` as the use case takes them. */
export const settingsOf = <B extends Pick<typeof newSource.Type, "verify">>({ verify, ...body }: B) => ({
  ...camelFields(body),
  ...(verify === undefined ? {} : { verify: verificationOf(verify) }),
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
  ...SETTING_ERRORS.map(({ code }) => code),
  "bad_verify",
  "bad_verify_secret",
  "bad_challenge",
  "bad_from",
] as const

/** Which member of a body each is about. */
export const SETTINGS_PARAMS = {
  bad_name: "/name",
  ...(Object.fromEntries(SETTING_ERRORS.map(({ code, name }) => [code, `/${name}`])) as Record<
    SettingErrorCode,
    string
  >),
  bad_verify: "/verify",
  bad_verify_secret: "/verify/secret",
  bad_challenge: "/challenge",
  bad_from: "/from",
} as const
