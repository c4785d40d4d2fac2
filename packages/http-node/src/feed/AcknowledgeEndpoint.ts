/**
 * The acknowledgement of a page: the one endpoint of the read API that writes. It writes only the position that the
 * request's own key keeps under this name. Its parameters are in the query, as the feed's are, so it needs no body.
 *
 * Decision: docs/decisions/0086-a-clients-position-belongs-to-its-key.md
 */
import { ackReceiptShape, ClientFollowers } from "@data-cabinet/core/follower/ClientFollowers"
import { keyName } from "@data-cabinet/core/key/Authenticate"
import { Effect } from "effect"
import { type Endpoint, CURSOR_PARAMETER } from "../api/Endpoint.ts"
import { endpointRoute, respondBy } from "../api/EndpointRoute.ts"
import { keyHeaders } from "../api/WithRateHeaders.ts"
import { FEED_QUERY, FOLLOWER_PARAMETER } from "./FeedEndpoint.ts"

const CURSOR = "AeYvQb0yT8m1rGk7WyIxIiwiODQxIiwiMTA0MTciXQ"

export const acknowledgeEvents: Endpoint = {
  method: "POST",
  id: "acknowledgeEvents",
  tag: "Events",
  path: "/api/v1/events/ack",
  summary: "Acknowledge events",
  description:
    "Moves the position that the cabinet keeps for this name of your key to a `next_cursor` of the feed: everything before it is processed. The first acknowledgement of a name creates it. The position moves forward only, so repeating an acknowledgement is harmless and a late one changes nothing. The request has no body.",
  pathParameters: [],
  query: [
    { ...FOLLOWER_PARAMETER, required: true, description: "The name whose position moves." },
    {
      ...CURSOR_PARAMETER,
      name: "cursor",
      required: true,
      description: "The `next_cursor` of the page that was processed.",
    },
    ...FEED_QUERY.filter(({ name }) => name === "source_id" || name === "channel").map((parameter) => ({
      ...parameter,
      description: `The \`${parameter.name}\` that the page was read with, if any.`,
    })),
  ],
  response: {
    description: "Where the follower is now.",
    schema: ackReceiptShape.schema,
    example: { follower: "erp", cursor: CURSOR, moved: true },
  },
  errors: [
    "bad_follower",
    "bad_cursor",
    "bad_source_id",
    "bad_channel",
    "no_such_source",
    "too_many_followers",
    "method_not_allowed",
  ],
}

export const acknowledgeRoutes = Effect.gen(function* () {
  const followers = yield* ClientFollowers
  const route = yield* endpointRoute(
    acknowledgeEvents,
    respondBy(({ query, scope, sent }) =>
      Effect.map(followers.acknowledge(Buffer.from(keyName(keyHeaders(sent)), "base64"), query, scope), (receipt) =>
        JSON.stringify(ackReceiptShape.json(receipt)),
      ),
    ),
  )
  return [route]
})
