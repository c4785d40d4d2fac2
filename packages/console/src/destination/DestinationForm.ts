/**
 * The forms of destinations: where one is, what it gets, and how its bucket or its brokers are reached. Credentials are accepted and
 * never shown, also not in a form that was refused.
 */
import {
  type Destination,
  DESTINATION_FORMATS,
  DESTINATION_STARTS,
  type DestinationChange,
  type NewDestination,
} from "@data-cabinet/core/destination/Destination"
import { isNats } from "@data-cabinet/core/destination/NatsSettings"
import { isS3, S3_SETTINGS } from "@data-cabinet/core/destination/S3Settings"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import type { Source } from "@data-cabinet/core/source/Source"
import { Effect } from "effect"
import { options } from "../html/Choice.ts"
import {
  CREDENTIAL_FIELDS,
  type CredentialField,
  credentialsIn,
  OF_BROKERS,
  OF_BUCKET,
} from "../screen/CredentialFields.ts"
import { menu } from "../html/Menu.ts"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may } from "../html/Shell.ts"
import { subscriptionChoice, subscriptionOf } from "../integration/SubscriptionChoice.ts"
import { fieldOf } from "../screen/Act.ts"
import type { FormCall } from "../screen/ConsoleScreen.ts"
import { settingFields, settingsIn } from "../screen/SettingFields.ts"

/** The formats of files, as people write them. */
export const FORMATS = { ndjson: "NDJSON", parquet: "Parquet" }

const credentialFields = (frame: Frame, fields: ReadonlyArray<CredentialField>): ReadonlyArray<Html> =>
  fields.map(([name, key, most]) => {
    const type = CREDENTIAL_FIELDS.includes(name) ? "password" : "text"
    return markup`<label>${frame.words.destination.credential[key]}<input name="${name}" type="${type}" maxlength="${String(most)}" autocomplete="off" spellcheck="false"></label>`
  })

const group = (title: string, fields: ReadonlyArray<Html>): Html =>
  markup`<fieldset><legend>${title}</legend>${fields}</fieldset>`

/** The menu that adds one; for those who may. */
export const addDestination = (frame: Frame, sources: ReadonlyArray<Source>): HtmlValue => {
  if (!may(frame, "destination.change")) return null
  const { destination: words } = frame.words
  const formats = DESTINATION_FORMATS.map((one) => [one, FORMATS[one]] as const)
  const starts = DESTINATION_STARTS.map((one) => [one, words.starts[one]] as const)
  const body = postForm({
    path: consolePath(frame, "destinations"),
    body: markup`<label>${words.location}<input name="location" required maxlength="1100" placeholder="s3://bucket/events" autocomplete="off" spellcheck="false"></label><p class="soft">${words.locationHint}</p>
<label>${words.format}<select name="format">${options(formats, "ndjson")}</select></label><label>${words.from}<select name="from">${options(starts, "beginning")}</select></label>${subscriptionChoice(frame, sources, "all")}
<details><summary>${words.reached}</summary>${settingFields(S3_SETTINGS, S3_SETTINGS.defaults, words.setting)}${group(words.ofBucket, credentialFields(frame, OF_BUCKET))}${group(words.ofBrokers, credentialFields(frame, OF_BROKERS))}<p class="soft">${words.credentialsHint}</p></details>
<button class="main">${words.add}</button>`,
  })
  return menu({ id: "add-destination", face: words.add, kind: "main", body })
}

/** How a bucket or a stream is reached, to be changed; nothing for a directory. */
export const changeDestination = (frame: Frame, one: Destination): HtmlValue => {
  const { id, location } = one
  const { destination: words } = frame.words
  const isStream = isNats(location)
  if (!isStream && !isS3(location)) return null
  const settings = isStream
    ? { ...S3_SETTINGS, all: S3_SETTINGS.all.filter(({ key }) => key === "endpoint") }
    : S3_SETTINGS
  const fields = credentialFields(frame, isStream ? OF_BROKERS : OF_BUCKET)
  return markup`<details><summary>${words.reached}</summary>${postForm({
    path: consolePath(frame, `destinations/${id}/change`),
    kind: "form",
    body: markup`${settingFields(settings, one, words.setting)}${group(isStream ? words.ofBrokers : words.ofBucket, fields)}<p class="soft">${one.hasCredentials ? words.credentialsKept : words.credentialsHint}</p><button class="main">${frame.words.save}</button>`,
  })}</details>`
}

/** The destination of the form that adds one. */
export const newDestinationIn = Effect.fnUntraced(function* (call: FormCall) {
  const location = fieldOf(call, "location")
  const scope = yield* subscriptionOf(call)
  const made: NewDestination = {
    location,
    format: DESTINATION_FORMATS.find((one) => one === fieldOf(call, "format")) ?? "ndjson",
    from: DESTINATION_STARTS.find((one) => one === fieldOf(call, "from")) ?? "beginning",
    sources: scope === "all" ? null : scope,
    ...S3_SETTINGS.defaults,
    ...settingsIn(S3_SETTINGS, call),
    credentials: (yield* credentialsIn(call.form, location)) ?? null,
  }
  return made
})

/** The change of the form of a card. */
export const destinationChangeIn = Effect.fnUntraced(function* (call: FormCall, location: string) {
  const credentials = yield* credentialsIn(call.form, location)
  const change: DestinationChange = {
    ...settingsIn(S3_SETTINGS, call),
    ...(credentials === undefined ? {} : { credentials }),
  }
  return change
})
