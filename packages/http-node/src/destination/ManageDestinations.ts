/** Destinations over the management API. */
import {
  DESTINATION_DEFAULTS,
  DESTINATION_FORMATS,
  DESTINATION_STARTS,
  destinationShape,
  type DestinationChange,
  type NewDestination,
} from "@data-cabinet/core/destination/Destination"
import { LOCATION_EXPECTED } from "@data-cabinet/core/destination/CheckDestination"
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import {
  CREDENTIALS_EXPECTED,
  credentialsOf,
  type DestinationCredentials,
  type GivenCredentials,
} from "@data-cabinet/core/destination/DestinationCredentials"
import { type DestinationError, refuse } from "@data-cabinet/core/destination/DestinationError"
import { S3_SETTINGS } from "@data-cabinet/core/destination/S3Settings"
import { Effect, Schema } from "effect"
import { type BodyFields, camelFields, idField, text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idSegment } from "../manage/ManageParameters.ts"
import { list, nothing, one, whole } from "../manage/ManageResponses.ts"
import { settingFields, settingParams } from "../manage/SettingBodies.ts"

const MAX_SOURCES = 1_000

/** The credentials of a bucket or of a broker. */
export const credentialFields = {
  access_key_id: Schema.optionalKey(text(128, "The access key of a bucket. Never shown.")),
  secret_access_key: Schema.optionalKey(text(256, "The secret key of a bucket. Never shown.")),
  session_token: Schema.optionalKey(Schema.NullOr(text(8192, "Of a bucket's temporary credentials. Never shown."))),
  user: Schema.optionalKey(text(256, "The user of a broker.")),
  password: Schema.optionalKey(text(1024, "The user's password. Never shown.")),
  token: Schema.optionalKey(text(1024, "The token of a broker. Never shown.")),
  seed: Schema.optionalKey(text(58, "The seed of an nkey for a broker. Never shown.")),
  jwt: Schema.optionalKey(Schema.NullOr(text(8192, "The JWT that belongs to the seed. Never shown."))),
} satisfies BodyFields<GivenCredentials>

const credentials = Schema.Struct(credentialFields)

const readCredentials = (body: typeof credentials.Type): Effect.Effect<DestinationCredentials, DestinationError> => {
  const read = credentialsOf(camelFields(body))
  return read === null ? refuse("bad_credentials", CREDENTIALS_EXPECTED) : Effect.succeed(read)
}

export const newDestination = Schema.Struct({
  location: text(1_100, `The location is ${LOCATION_EXPECTED}.`),
  format: Schema.optionalKey(
    Schema.Literals(DESTINATION_FORMATS).annotate({ description: "The format of its files; `ndjson` if left out." }),
  ),
  sources: Schema.optionalKey(
    Schema.NullOr(Schema.Array(idField).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_SOURCES))).annotate({
      description: "The sources whose events it gets; null or absent: all, including those created later.",
    }),
  ),
  from: Schema.optionalKey(
    Schema.Literals(DESTINATION_STARTS).annotate({
      description: "Where it begins: with the first event, which is the default, or with the next one.",
    }),
  ),
  ...settingFields(S3_SETTINGS),
  credentials: Schema.optionalKey(
    Schema.NullOr(credentials).annotate({
      description: "For a bucket or a broker, of one kind; null or absent for a directory.",
    }),
  ),
} satisfies BodyFields<NewDestination>)

const change = Schema.Struct({
  ...settingFields(S3_SETTINGS),
  credentials: Schema.optionalKey(credentials.annotate({ description: "Instead of the current ones." })),
} satisfies BodyFields<DestinationChange>)

const PLACE_ERRORS = [
  ...S3_SETTINGS.errors.map(({ code }) => code),
  "not_public",
  "name_not_found",
  "not_s3",
  "bad_credentials",
  "credentials_needed",
] as const

const PLACE_PARAMS = {
  ...settingParams(S3_SETTINGS),
  not_public: "/endpoint",
  name_not_found: "/endpoint",
  not_s3: "/location",
  bad_credentials: "/credentials",
  credentials_needed: "/credentials",
} as const

export const manageDestinations = Effect.map(Destinations, (destinations) => {
  const common = {
    tag: "Destinations",
    segments: [idSegment("The destination's id.")],
    errors: ["no_such_destination"],
    params: { no_such_destination: "id" },
  } as const
  const shown = one(destinationShape, "The destination.")
  return [
    manageEndpoint({
      id: "listDestinations",
      tag: "Destinations",
      method: "GET",
      path: "/manage/v1/destinations",
      summary: "All destinations",
      description: "Every destination by id, how far each has come, and why it waits. The list is not paginated.",
      action: "destination.read",
      response: list(destinationShape, "The destinations."),
      respond: () => Effect.map(destinations.list, (all) => whole(all.map(destinationShape.json))),
    }),
    manageEndpoint({
      id: "addDestination",
      tag: "Destinations",
      method: "POST",
      path: "/manage/v1/destinations",
      summary: "Add a destination",
      description:
        "It gets the events of the feed in order. Files are complete when they appear: one when there are new events, and then at most one a minute, or one for every 16 MiB. A stream gets a message for each event, within seconds.",
      action: "destination.change",
      once: { completed: "transaction" },
      body: newDestination,
      errors: ["no_such_source", "bad_location", "destination_exists", "too_many_destinations", ...PLACE_ERRORS],
      params: {
        no_such_source: "/sources",
        bad_location: "/location",
        destination_exists: "/location",
        too_many_destinations: "/location",
        ...PLACE_PARAMS,
      },
      response: one(destinationShape, "The destination.", 201),
      respond: ({ body: { credentials: given = null, ...body } }) =>
        Effect.gen(function* () {
          const read = given === null ? null : yield* readCredentials(given)
          const made = { ...DESTINATION_DEFAULTS, ...camelFields(body), credentials: read }
          return destinationShape.json(yield* destinations.add(made))
        }),
    }),
    manageEndpoint({
      ...common,
      id: "getDestination",
      method: "GET",
      path: "/manage/v1/destinations/{id}",
      summary: "One destination",
      description: "One destination, and how far it has come.",
      action: "destination.read",
      response: shown,
      respond: ({ path: [id] }) => Effect.map(destinations.get(id), destinationShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "changeDestination",
      method: "PATCH",
      path: "/manage/v1/destinations/{id}",
      summary: "Change how a bucket or a broker is reached",
      description:
        "Missing fields stay. Another endpoint needs `credentials` as well. It is tried again at once. A directory has nothing that can be changed.",
      action: "destination.change",
      body: change,
      response: shown,
      errors: ["no_such_destination", ...PLACE_ERRORS],
      params: { no_such_destination: "id", ...PLACE_PARAMS },
      respond: ({ path: [id], body: { credentials: given, ...body } }) =>
        Effect.gen(function* () {
          const secret = given === undefined ? {} : { credentials: yield* readCredentials(given) }
          return destinationShape.json(yield* destinations.change(id, { ...camelFields(body), ...secret }))
        }),
    }),
    manageEndpoint({
      ...common,
      id: "restartDestination",
      method: "POST",
      path: "/manage/v1/destinations/{id}/restart",
      summary: "Send from the beginning",
      description:
        "Sends all events again, from the first one. Refused while its place has files or messages of it: move the files elsewhere, or purge the stream, first. The new ones have another tag.",
      action: "destination.change",
      response: shown,
      errors: ["no_such_destination", "destination_filled", "destination_failed"],
      respond: ({ path: [id] }) => Effect.map(destinations.restart(id), destinationShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "removeDestination",
      method: "DELETE",
      path: "/manage/v1/destinations/{id}",
      summary: "Remove a destination",
      description: "Its files and messages stay. A destination that is added for the same place needs an empty one.",
      action: "destination.change",
      response: nothing("It is removed."),
      respond: ({ path: [id] }) => Effect.as(destinations.remove(id), undefined),
    }),
    manageEndpoint({
      ...common,
      id: "pauseDestination",
      method: "POST",
      path: "/manage/v1/destinations/{id}/pause",
      summary: "Pause a destination",
      description: "It keeps its position and gets nothing until it is resumed. A file that is being written appears.",
      action: "destination.change",
      response: shown,
      respond: ({ path: [id] }) => Effect.map(destinations.pause(id), destinationShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "resumeDestination",
      method: "POST",
      path: "/manage/v1/destinations/{id}/resume",
      summary: "Resume a destination",
      description: "It continues at its position at once. For one that waits after a failure, it ends the wait.",
      action: "destination.change",
      response: shown,
      respond: ({ path: [id] }) => Effect.map(destinations.resume(id), destinationShape.json),
    }),
  ]
})
