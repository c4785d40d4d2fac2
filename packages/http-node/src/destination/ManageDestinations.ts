/** Destinations over the management API. */
import {
  DESTINATION_FORMATS,
  DESTINATION_STARTS,
  destinationShape,
  type NewDestination,
} from "@data-cabinet/core/destination/Destination"
import { Destinations, LOCATION_EXPECTED } from "@data-cabinet/core/destination/Destinations"
import { Effect, Schema } from "effect"
import { type BodyFields, camelFields, idField, text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idSegment } from "../manage/ManageParameters.ts"
import { list, nothing, one, whole } from "../manage/ManageResponses.ts"

const MAX_SOURCES = 1_000

const newDestination = Schema.Struct({
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
} satisfies BodyFields<NewDestination>)

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
        "It gets the events of the feed in order, as files that are complete when they appear: one when there are new events, and then at most one a minute, or one for every 16 MiB.",
      action: "destination.change",
      once: { completed: "transaction" },
      body: newDestination,
      errors: ["no_such_source", "bad_location", "destination_exists", "too_many_destinations"],
      params: {
        no_such_source: "/sources",
        bad_location: "/location",
        destination_exists: "/location",
        too_many_destinations: "/location",
      },
      response: one(destinationShape, "The destination.", 201),
      respond: ({ body }) =>
        Effect.map(
          destinations.add({ format: "ndjson", sources: null, from: "beginning", ...camelFields(body) }),
          destinationShape.json,
        ),
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
      id: "removeDestination",
      method: "DELETE",
      path: "/manage/v1/destinations/{id}",
      summary: "Remove a destination",
      description: "Its files stay. A destination that is added for the same directory needs an empty one.",
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
