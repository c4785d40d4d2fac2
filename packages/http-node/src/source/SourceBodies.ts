/** The settings of sources in the bodies of requests. */
import { MAX_HEADER_NAME_LENGTH, MAX_HEADER_NAMES } from "@data-cabinet/core/source/HeaderNames"
import { SOURCE_ENCODINGS } from "@data-cabinet/core/source/Source"
import { MAX_SOURCE_RATE } from "@data-cabinet/core/source/Sources"
import { MAX_HONEYPOT_LENGTH, MAX_ORIGIN_LENGTH, MAX_ORIGINS } from "@data-cabinet/core/source/SpamRules"
import { PROVIDER_NAMES } from "@data-cabinet/core/verification/Providers"
import { Schema } from "effect"
import { camelFields, nameField, text } from "../manage/ManageBodies.ts"
import { challenge, verification, verificationOf } from "../verification/VerificationBodies.ts"

const headerNames = (description: string) =>
  Schema.Array(text(MAX_HEADER_NAME_LENGTH, "A header's name."))
    .check(Schema.isMaxLength(MAX_HEADER_NAMES))
    .annotate({ description })

const settings = {
  encoding: Schema.optionalKey(
    Schema.NullOr(Schema.Literals(SOURCE_ENCODINGS)).annotate({
      description: "The charset of its forms; null: detected for each submission.",
    }),
  ),
  thanks_url: Schema.optionalKey(
    Schema.NullOr(text(2048, "Where a browser is redirected after a plain form; null: the built-in page.")),
  ),
  keep_headers: Schema.optionalKey(
    headerNames(
      "The headers that original requests keep besides those that all keep: names, or prefixes such as `X-GitHub-*`.",
    ),
  ),
  header_fields: Schema.optionalKey(headerNames("Headers that also become fields of the events, under these names.")),
  keep_query: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Whether original requests keep the query string as sent." }),
  ),
  nest_brackets: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "Whether the fields of forms are nested by the brackets in their names: `leads[add][0][name]` becomes a member of `leads`.",
    }),
  ),
  rate: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_SOURCE_RATE }))).annotate({
      description: "How many requests a minute it takes from all clients together; null: the common limits.",
    }),
  ),
  honeypot: Schema.optionalKey(
    Schema.NullOr(
      text(MAX_HONEYPOT_LENGTH, "A field of its form that people leave empty: filled, the event is spam; null: none."),
    ),
  ),
  allow_origins: Schema.optionalKey(
    Schema.Array(text(MAX_ORIGIN_LENGTH, "An origin, such as `https://www.example.com`."))
      .check(Schema.isMaxLength(MAX_ORIGINS))
      .annotate({
        description: "The origins of pages with its form: submissions from others are spam; empty: any origin.",
      }),
  ),
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
export const SETTINGS_ERRORS = [
  "bad_name",
  "bad_encoding",
  "bad_thanks_url",
  "bad_keep_headers",
  "bad_header_fields",
  "bad_rate",
  "bad_honeypot",
  "bad_allow_origins",
  "bad_verify",
  "bad_verify_secret",
  "bad_challenge",
  "bad_from",
] as const

export const SETTINGS_PARAMS = {
  bad_name: "/name",
  bad_encoding: "/encoding",
  bad_thanks_url: "/thanks_url",
  bad_keep_headers: "/keep_headers",
  bad_header_fields: "/header_fields",
  bad_rate: "/rate",
  bad_honeypot: "/honeypot",
  bad_allow_origins: "/allow_origins",
  bad_verify: "/verify",
  bad_verify_secret: "/verify/secret",
  bad_challenge: "/challenge",
  bad_from: "/from",
} as const
