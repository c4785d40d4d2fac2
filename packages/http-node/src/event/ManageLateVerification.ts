/** The verification of stored events over the management API. */
import { LateVerification, MAX_VERIFY_EVENTS } from "@data-cabinet/core/event/LateVerification"
import { latePageShape, lateVerdictsShape } from "@data-cabinet/core/verification/LateVerdict"
import { Effect, Schema } from "effect"
import { idField, text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idSegment } from "../manage/ManageParameters.ts"
import { one } from "../manage/ManageResponses.ts"
import { HttpSettings } from "../server/HttpSettings.ts"

const deliver = Schema.optionalKey(
  Schema.Boolean.annotate({
    description:
      "Whether the events of requests that are verified late are delivered, each request once; false by default.",
  }),
)

const ofEvents = Schema.Struct({
  events: Schema.Array(idField)
    .check(Schema.isMinLength(1), Schema.isMaxLength(MAX_VERIFY_EVENTS))
    .annotate({ description: "The events' numbers." }),
  deliver,
})

const ofSource = Schema.Struct({
  deliver,
  dry_run: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Only reports the outcome: nothing is marked, and nothing delivered. False by default.",
    }),
  ),
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_VERIFY_EVENTS })).annotate({
      description: `The most events to examine; ${MAX_VERIFY_EVENTS} by default.`,
    }),
  ),
  cursor: Schema.optionalKey(text(12_000, "The last response's `next_cursor`, with the same `deliver`.")),
})

export const manageLateVerification = Effect.gen(function* () {
  const late = yield* LateVerification
  const { baseUrl } = yield* HttpSettings
  return [
    manageEndpoint({
      id: "verifyEvents",
      tag: "Events",
      method: "POST",
      path: "/manage/v1/events/verify",
      summary: "Verify the sender of stored events",
      description:
        "Checks the original requests of these events against the current recipe and secrets of their sources. A verified request marks all of its events so; nothing else changes.",
      action: "event.verify",
      body: ofEvents,
      response: one(lateVerdictsShape, "The outcome for each event, in the order of the request."),
      errors: ["no_such_event", "too_many_events"],
      params: { no_such_event: "/events", too_many_events: "/events" },
      respond: ({ body }) =>
        Effect.map(late.events(body.events, { deliver: body.deliver ?? false, baseUrl }), (verdicts) =>
          lateVerdictsShape.json(verdicts),
        ),
    }),
    manageEndpoint({
      id: "verifySourceEvents",
      tag: "Sources",
      method: "POST",
      path: "/manage/v1/sources/{id}/verify",
      segments: [idSegment("The source's id.")],
      summary: "Verify the sender of a source's stored events",
      description:
        "The same for the events of a source whose original requests are still stored, oldest first: continue while `next_cursor` is not null.",
      action: "event.verify",
      body: ofSource,
      response: one(latePageShape, "The outcomes for events that were not verified, and where to continue."),
      errors: ["no_such_source", "not_checkable", "bad_cursor"],
      params: { no_such_source: "id", not_checkable: "id", bad_cursor: "/cursor" },
      respond: ({ path: [sourceId], body: { deliver: wanted = false, dry_run: dryRun = false, ...page } }) => {
        const query = { sourceId, deliver: wanted, baseUrl, ...page }
        return Effect.map(dryRun ? late.trySource(query) : late.source(query), latePageShape.json)
      },
    }),
  ]
})
