/** The event feed over the API. Payloads are the stored text, never parsed. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import type { FeedParam } from "@data-cabinet/core/feed/FeedParams"
import { Effect } from "effect"
import type { ApiError } from "../server/ApiError.ts"
import { type Endpoint, type QueryParameter, CURSOR_PARAMETER, LIMIT_PARAMETER } from "../api/Endpoint.ts"
import { endpointRoute, type OwnResponse, respondBy } from "../api/EndpointRoute.ts"
import { EVENT_EXAMPLE } from "../openapi/Examples.ts"
import { ref } from "../openapi/Schemas.ts"
import { EVENT_STREAM, type FeedForms, MAX_WAIT_SECONDS, waitOf } from "./FeedForms.ts"

const PARAMETERS: { readonly [name in FeedParam]: Omit<QueryParameter, "name"> } = {
  source_id: {
    description: "Only events of this source.",
    schema: { type: "integer", format: "int64", minimum: 1 },
    example: 1,
  },
  channel: {
    description: "Only events of this channel.",
    schema: { type: "string", enum: CHANNELS },
    example: "webhook",
  },
  limit: LIMIT_PARAMETER,
  cursor: CURSOR_PARAMETER,
}

/** What both APIs say of the feed. */
export const FEED_DESCRIPTION =
  "Every event once, in the order of acceptance, from the beginning if no `cursor` is sent. Every page has a `next_cursor`: store it and continue from it the next time; no event will ever be inserted before it. Events of deleted rows remain, with `deleted_at` set. To get only what delivery would send, skip events with `repeat_of` or `history`. With `Prefer: wait=25` a page that would be empty waits so many seconds for the next event. With `Accept: text/event-stream` events are streamed as they come, each with the cursor behind it as its id. A key may have 10 requests that wait and streams open at once."

/** The parameters that the management API's feed has as well. */
export const FEED_QUERY: ReadonlyArray<QueryParameter> = Object.entries(PARAMETERS).map(([name, parameter]) => ({
  name,
  ...parameter,
}))

/** A follower of a client, by the name that its program chose. */
export const FOLLOWER_PARAMETER = {
  name: "follower",
  schema: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" },
  example: "erp",
} as const

const FOLLOWER = {
  ...FOLLOWER_PARAMETER,
  description:
    "Begin at the position that the cabinet keeps for this name of your key, in place of `cursor`; a new name begins with the first event. Reading does not move it: acknowledge each page's `next_cursor` once the page is processed.",
}

export const listEvents: Endpoint = {
  id: "listEvents",
  tag: "Events",
  path: "/api/v1/events",
  summary: "The event feed",
  description: `${FEED_DESCRIPTION} With \`follower\` the cabinet keeps the position for you.`,
  pathParameters: [],
  query: [...FEED_QUERY, FOLLOWER],
  response: {
    description: "A page of events. It may be shorter than `limit` even if `has_more` is true.",
    schema: ref("EventPage"),
    example: { data: [EVENT_EXAMPLE], has_more: false, next_cursor: "AeYvQb0yT8m1rGk7WyIxIiwiODQxIiwiMTA0MTciXQ" },
    headers: {
      "Preference-Applied": {
        description: "The wait that was granted, if one was requested.",
        required: false,
        schema: { type: "string" },
        example: "wait=25",
      },
    },
  },
  forms: [EVENT_STREAM],
  varies: "Accept, Prefer",
  headers: [
    {
      name: "Prefer",
      description: `\`wait=N\`: instead of an empty page at once, wait up to N seconds for the next event, ${MAX_WAIT_SECONDS} at most.`,
      schema: { type: "string" },
      example: "wait=25",
    },
    {
      name: "Last-Event-ID",
      description: "For a stream: the id of the last event that was received, in place of `cursor`.",
      schema: { type: "string" },
      example: "AeYvQb0yT8m1rGk7WyIxIiwiODQxIiwiMTA0MTciXQ",
    },
  ],
  errors: ["bad_limit", "bad_cursor", "bad_source_id", "bad_channel", "bad_follower", "no_such_source"],
}

export const feedRoutes = ({ page, waiting, stream }: FeedForms) =>
  Effect.map(
    endpointRoute(
      listEvents,
      respondBy((request): Effect.Effect<Uint8Array | OwnResponse, ApiError | StoreUnavailable> => {
        if (request.form !== null) return stream(request)
        const seconds = waitOf(request.sent)
        return seconds === null ? page(request) : waiting(request, seconds)
      }),
      { waitMillis: (request) => (waitOf(request) ?? 0) * 1_000 },
    ),
    (route) => [route],
  )
