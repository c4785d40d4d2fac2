/** The settings of delivery addresses in the bodies of requests. */
import { BODY_KINDS, BODY_METHODS, type BodyChoice } from "@data-cabinet/core/delivery/BodySetting"
import { DELIVERY_ORDERS } from "@data-cabinet/core/delivery/Address"
import { MAX_HEADERS } from "@data-cabinet/core/delivery/AddressSettings"
import { MAX_TEMPLATE_BYTES } from "@data-cabinet/core/delivery/BodyTemplate"
import { MAX_CERTIFICATE_CHARACTERS, MAX_KEY_CHARACTERS } from "@data-cabinet/core/delivery/ClientCertificate"
import { Schema } from "effect"
import { camelFields, idField, text } from "../manage/ManageBodies.ts"
import { settingFields, settingParams } from "../manage/SettingBodies.ts"
import { SENDING_SETTINGS } from "@data-cabinet/core/delivery/SendingSettings"
import { MAX_FILTERS } from "@data-cabinet/core/delivery/FieldFilter"
import { FILTER_CONDITIONS } from "@data-cabinet/core/selection/Selection"
import type { AddressChange } from "@data-cabinet/core/delivery/NewAddress"

/** Conditions for the fields of events in a body, under the names that the parameters of rows have. */
export const conditionsField = (description: string) =>
  Schema.Array(
    Schema.Struct({
      fc: text(1_000, "The field's name, as its sender writes it."),
      fo: Schema.Literals(FILTER_CONDITIONS).annotate({ description: "The condition." }),
      fv: text(1_000, "The value; empty for `empty` and `notempty`."),
    }),
  )
    .check(Schema.isMaxLength(MAX_FILTERS))
    .annotate({ description })

const subscription = Schema.Union([
  Schema.Literal("all"),
  Schema.Array(idField).check(Schema.isMaxLength(10_000)),
]).annotate({
  description: "`all`, including later ones, or the ids of sources.",
})
const url = text(4096, "Where deliveries are sent: an http or https address that is public.")

const headerName = text(100, "The header's name.")
const headersField = (description: string) =>
  Schema.Array(Schema.Struct({ name: headerName, value: text(4096, "Secret: never shown.") }))
    .check(Schema.isMaxLength(MAX_HEADERS))
    .annotate({ description })

const bodyField = Schema.Struct({
  kind: Schema.Literals(BODY_KINDS).annotate({
    description: "`standard`: our own body; `template`: one of your own; the others: that of a receiver.",
  }),
  template: Schema.optionalKey(
    Schema.NullOr(
      text(MAX_TEMPLATE_BYTES, "JSON whose texts hold places such as `{{payload.name}}`. For `template` and `form`."),
    ),
  ),
  method: Schema.optionalKey(
    Schema.Literals(BODY_METHODS).annotate({ description: "Of `template` and `form`; default: `POST`." }),
  ),
  content_type: Schema.optionalKey(
    Schema.NullOr(
      text(100, "Of a `template`: `application/json`, which is the default, or a type that ends in `+json`."),
    ),
  ),
}).annotate({ description: "What deliveries carry." })

const settings = {
  sources: Schema.optionalKey(subscription),
  filters: Schema.optionalKey(
    conditionsField(
      "Conditions for the fields of an event. Only events that meet all of them are sent to it. Their names and values have at most 4,000 characters together.",
    ),
  ),
  headers: Schema.optionalKey(headersField("Sent with every delivery.")),
  client_identity: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        certificate: text(MAX_CERTIFICATE_CHARACTERS, "In PEM, followed by the chain, if it has one."),
        key: text(MAX_KEY_CHARACTERS, "Its private key in PEM, without a passphrase. Secret: never shown."),
      }),
    ).annotate({
      description:
        "With which the service identifies itself to a receiver that demands a client certificate (mutual TLS); null: with none.",
    }),
  ),
  ...settingFields(SENDING_SETTINGS),
  order: Schema.optionalKey(
    Schema.Literals(DELIVERY_ORDERS).annotate({
      description:
        "`feed`: events are sent in feed order, each after the response to the previous one. `none`: each event is sent as soon as possible.",
    }),
  ),
  batch: Schema.optionalKey(
    Schema.Struct({
      max: Schema.Int.annotate({ description: "The most events, 1 to 100; with 1 the body is that of one delivery." }),
      wait: Schema.Int.annotate({
        description: "For how many seconds the first event of a batch waits for more, 0 to 60.",
      }),
    }).annotate({ description: "How many events one request brings; needs `order` `feed`." }),
  ),
  body: Schema.optionalKey(bodyField),
}
/** What to preview. */
export const previewed = Schema.Struct({
  event_id: Schema.optionalKey(idField),
  body: Schema.optionalKey(bodyField),
})
export const skippedEvent = Schema.Struct({
  event_id: idField,
  reason: text(500, "Why, for the log."),
})
export const newAddress = Schema.Struct({ url, ...settings })
export const addressChange = Schema.Struct({
  url: Schema.optionalKey(url),
  ...settings,
  set_headers: Schema.optionalKey(
    headersField("Added, or sent instead of those with the same names; the others stay. Not with `headers`."),
  ),
  remove_headers: Schema.optionalKey(
    Schema.Array(headerName).check(Schema.isMaxLength(MAX_HEADERS)).annotate({
      description: "Names of headers that are sent no longer, if it has them; the others stay. Not with `headers`.",
    }),
  ),
})
const headerOf = ({ name, value }: { readonly name: string; readonly value: string }) => [name, value] as const

/** The parameter that a refused header is reported under. */
export const headersPointer = ({ headers, set_headers: set, remove_headers: removed }: typeof addressChange.Type) => {
  if (headers !== undefined) return "/headers"
  return set === undefined && removed !== undefined ? "/remove_headers" : "/set_headers"
}

/** An address's fields from a body; missing fields stay missing. */
export const changeOf = ({ headers, set_headers: set, body, ...others }: typeof addressChange.Type): AddressChange => ({
  ...camelFields(others),
  ...(headers === undefined ? {} : { headers: headers.map(headerOf) }),
  ...(set === undefined ? {} : { setHeaders: set.map(headerOf) }),
  ...(body === undefined ? {} : { body: bodyOf(body) }),
})

/** A body from a request. */
export const bodyOf = (body: typeof bodyField.Type): BodyChoice => camelFields(body)

export const ADDRESS_PARAMS = {
  bad_url: "/url",
  not_public: "/url",
  name_not_found: "/url",
  no_such_source: "/sources",
  bad_filter: "/filters",
  bad_fo: "/filters",
  bad_fv: "/filters",
  bad_header: "/headers",
  bad_certificate: "/client_identity/certificate",
  bad_client_key: "/client_identity/key",
  ...settingParams(SENDING_SETTINGS),
  bad_batch: "/batch",
  bad_template: "/body",
} as const
export const ADDRESS_ERRORS = Object.keys(ADDRESS_PARAMS) as ReadonlyArray<keyof typeof ADDRESS_PARAMS>
