/** The settings of delivery addresses in the bodies of requests. */
import type { BodyChoice } from "@data-cabinet/core/delivery/BodySetting"
import { SECRET_SETTINGS } from "@data-cabinet/core/delivery/ClientIdentity"
import { MAX_HEADERS } from "@data-cabinet/core/delivery/AddressSettings"
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

const settings = {
  sources: Schema.optionalKey(subscription),
  filters: Schema.optionalKey(
    conditionsField(
      "Conditions for the fields of an event. Only events that meet all of them are sent to it. Their names and values have at most 4,000 characters together.",
    ),
  ),
  headers: Schema.optionalKey(headersField("Sent with every delivery.")),
  ...settingFields(SECRET_SETTINGS),
  ...settingFields(SENDING_SETTINGS),
}

/** What to preview. */
export const previewed = Schema.Struct({
  event_id: Schema.optionalKey(idField),
  body: settings.body,
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
export const bodyOf = (body: NonNullable<typeof previewed.Type.body>): BodyChoice => camelFields(body)

export const ADDRESS_PARAMS = {
  bad_url: "/url",
  not_public: "/url",
  name_not_found: "/url",
  no_such_source: "/sources",
  bad_filter: "/filters",
  bad_fo: "/filters",
  bad_fv: "/filters",
  bad_header: "/headers",
  ...settingParams(SECRET_SETTINGS),
  ...settingParams(SENDING_SETTINGS),
} as const
export const ADDRESS_ERRORS = Object.keys(ADDRESS_PARAMS) as ReadonlyArray<keyof typeof ADDRESS_PARAMS>
