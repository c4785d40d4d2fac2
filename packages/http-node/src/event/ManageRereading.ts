/** Reading stored events again in another charset, over the management API. */
import { MAX_REREAD_EVENTS, Rereading } from "@data-cabinet/core/intake/Rereading"
import { rereadPageShape, rereadVerdictsShape } from "@data-cabinet/core/intake/RereadVerdict"
import { Effect, Schema } from "effect"
import { idField, text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idSegment } from "../manage/ManageParameters.ts"
import { one } from "../manage/ManageResponses.ts"

const flag = (description: string) => Schema.optionalKey(Schema.Boolean.annotate({ description }))

const OPTIONS = {
  encoding: text(64, "The charset, by any of its names in a `Content-Type`: `windows-1251`, `koi8-r`, `shift_jis`."),
  all_values: flag(
    "Whether values that are valid UTF-8, or declare a charset of their own, are also read in it; false by default.",
  ),
  deliver: flag("Whether changed events are delivered again; false by default."),
  dry_run: flag("Only reports the outcome: nothing is changed, and nothing delivered. False by default."),
}

const ofEvents = Schema.Struct({
  events: Schema.Array(idField)
    .check(Schema.isMinLength(1), Schema.isMaxLength(MAX_REREAD_EVENTS))
    .annotate({ description: "The events' numbers." }),
  ...OPTIONS,
})

const ofSource = Schema.Struct({
  ...OPTIONS,
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_REREAD_EVENTS })).annotate({
      description: `The most events to examine; ${MAX_REREAD_EVENTS} by default.`,
    }),
  ),
  cursor: Schema.optionalKey(text(12_000, "The last response's `next_cursor`, with the same options.")),
})

export const manageRereading = Effect.gen(function* () {
  const rereading = yield* Rereading
  return [
    manageEndpoint({
      id: "rereadEvents",
      tag: "Events",
      method: "POST",
      path: "/manage/v1/events/reread",
      summary: "Read stored events again in another charset",
      description:
        "Decodes the original requests of these events again, and corrects the events and their rows. They keep their numbers and their places in the feed. An event that cannot be read again stays as it is, with the reason in its verdict; if none can, the request is refused.",
      action: "event.reread",
      body: ofEvents,
      response: one(rereadVerdictsShape, "The outcome for each event, in the order of the request."),
      errors: ["bad_encoding", "no_such_event", "too_many_events", "not_reread"],
      params: {
        bad_encoding: "/encoding",
        no_such_event: "/events",
        too_many_events: "/events",
        not_reread: "/events",
      },
      respond: ({ body }) => {
        const { events, encoding, all_values: allValues = false, deliver = false, dry_run: dryRun = false } = body
        const options = { encoding, allValues, deliver }
        const done = dryRun ? rereading.tryEvents(events, options) : rereading.events(events, options)
        return Effect.map(done, rereadVerdictsShape.json)
      },
    }),
    manageEndpoint({
      id: "rereadSourceEvents",
      tag: "Sources",
      method: "POST",
      path: "/manage/v1/sources/{id}/reread",
      segments: [idSegment("The source's id.")],
      summary: "Read a source's stored events again in another charset",
      description:
        "The same for the events of a source whose original requests are still stored, oldest first: continue while `next_cursor` is not null. Count with `dry_run` first.",
      action: "event.reread",
      body: ofSource,
      response: one(rereadPageShape, "The outcomes for events whose originals are not JSON, and where to continue."),
      errors: ["bad_encoding", "no_such_source", "bad_cursor"],
      params: { bad_encoding: "/encoding", no_such_source: "id", bad_cursor: "/cursor" },
      respond: ({ path: [sourceId], body }) => {
        const { all_values: allValues = false, deliver = false, dry_run: dryRun = false, ...page } = body
        const query = { sourceId, allValues, deliver, ...page }
        return Effect.map(dryRun ? rereading.trySource(query) : rereading.source(query), (found) =>
          rereadPageShape.json(found),
        )
      },
    }),
  ]
})
