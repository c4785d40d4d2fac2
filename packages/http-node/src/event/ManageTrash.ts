/** The trash over the management API: events are moved to it, restored and erased. */
import { MAX_TRASH_EVENTS, Trash } from "@data-cabinet/core/event/Trash"
import { Effect, Schema } from "effect"
import { countShape, one } from "../manage/ManageResponses.ts"
import { idField } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"

const events = Schema.Array(idField)
  .check(Schema.isMinLength(1), Schema.isMaxLength(MAX_TRASH_EVENTS))
  .annotate({ description: "The events' numbers." })
const ofSource = Schema.Struct({ source_id: idField, events })
const anyEvents = Schema.Struct({ events })

const TRASH_PARAMS = { no_such_source: "/source_id", no_such_event: "/events", too_many_events: "/events" } as const
const TRASH_ERRORS = ["no_such_source", "no_such_event", "too_many_events"] as const

export const manageTrash = Effect.gen(function* () {
  const trash = yield* Trash
  const trashing = {
    tag: "Events",
    response: one(countShape, "The number of events."),
    errors: TRASH_ERRORS,
    params: TRASH_PARAMS,
  } as const
  return [
    manageEndpoint({
      ...trashing,
      id: "trashEvents",
      method: "POST",
      path: "/manage/v1/events/trash",
      summary: "Move events to the trash",
      description:
        "Their rows are removed and their deliveries cancelled: of all, or of none if one is not of this source.",
      action: "event.trash",
      body: ofSource,
      respond: ({ body }) => Effect.map(trash.trash(body.source_id, body.events), (count) => ({ count })),
    }),
    manageEndpoint({
      ...trashing,
      id: "restoreEvents",
      method: "POST",
      path: "/manage/v1/events/restore",
      summary: "Restore events from the trash, or from spam",
      description:
        "Their rows are restored; cancelled deliveries are not. Those that are spam and not in the trash become ordinary events: they get their rows, and are delivered as new ones.",
      action: "event.trash",
      body: ofSource,
      respond: ({ body }) => Effect.map(trash.untrash(body.source_id, body.events), (count) => ({ count })),
    }),
    manageEndpoint({
      ...trashing,
      id: "purgeEvents",
      method: "POST",
      path: "/manage/v1/events/purge",
      summary: "Erase events permanently",
      description: "Erases their data, and that of their repeats, permanently. Their positions in the feed remain.",
      action: "event.purge",
      body: anyEvents,
      respond: ({ body }) => Effect.map(trash.purge(body.events), (count) => ({ count })),
    }),
  ]
})
