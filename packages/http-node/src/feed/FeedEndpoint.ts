/** The event feed over the API. Payloads are the stored text, never parsed. */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { Feed } from "@data-cabinet/core/feed/Feed"
import type { FeedParam } from "@data-cabinet/core/feed/FeedParams"
import { Effect } from "effect"
import type { Endpoint, QueryParameter } from "../api/Endpoint.ts"
import { endpointRoute, respondBy } from "../api/EndpointRoute.ts"
import { EVENT_EXAMPLE } from "../openapi/Examples.ts"
import { ref } from "../openapi/Schemas.ts"
import { pageBody } from "../html/PageBody.ts"
import { CURSOR_PARAMETER, LIMIT_PARAMETER } from "../pagination/PageParameters.ts"

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

export const listEvents: Endpoint = {
  id: "listEvents",
  tag: "Events",
  path: "/api/v1/events",
  summary: "The event feed",
  description:
    "Every event once, in the order of acceptance, from the beginning if no `cursor` is sent. Every page has a `next_cursor`: store it and continue from it the next time; no event will ever be inserted before it. Events of deleted rows remain, with `deleted_at` set. To get only what delivery would send, skip events with `repeat_of` or `history`.",
  pathParameters: [],
  query: Object.entries(PARAMETERS).map(([name, parameter]) => ({ name, ...parameter })),
  response: {
    description: "A page of events. It may be shorter than `limit` even if `has_more` is true.",
    schema: ref("EventPage"),
    example: { data: [EVENT_EXAMPLE], has_more: false, next_cursor: "AeYvQb0yT8m1rGk7WyIxIiwiODQxIiwiMTA0MTciXQ" },
  },
  errors: ["bad_limit", "bad_cursor", "bad_source_id", "bad_channel", "no_such_source"],
}

export const feedRoutes = Effect.gen(function* () {
  const feed = yield* Feed
  return [
    yield* endpointRoute(
      listEvents,
      respondBy(({ query, scope }) =>
        Effect.map(feed.page(query, scope), ({ items, hasMore, nextCursor }) =>
          pageBody(items, `"has_more":${hasMore},"next_cursor":${JSON.stringify(nextCursor)}`),
        ),
      ),
    ),
  ]
})
