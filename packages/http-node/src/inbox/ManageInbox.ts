/** The messages of a form, and their marks, over the management API. */
import { INBOX_MARKS } from "@data-cabinet/core/event/EventListStore"
import { MAX_TRASH_EVENTS } from "@data-cabinet/core/event/Trash"
import { Inbox } from "@data-cabinet/core/inbox/Inbox"
import { inboxMessageShape } from "@data-cabinet/core/inbox/InboxMessage"
import { Effect, Schema } from "effect"
import { idField } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { countShape, one, searched } from "../manage/ManageResponses.ts"
import { idSegment, limitParameter, textParameter, wordParameter } from "../manage/ManageParameters.ts"

const source = idSegment("The source's id.")
const event = idSegment("The event's number.", "event")

const flag = (description: string) => Schema.optionalKey(Schema.Boolean.annotate({ description }))

const marks = Schema.Struct({
  events: Schema.Array(idField)
    .check(Schema.isMinLength(1), Schema.isMaxLength(MAX_TRASH_EVENTS))
    .annotate({ description: "The events' numbers." }),
  read: flag("Whether they are read; without it that stays."),
  done: flag("Whether they are done; without it that stays. What is done is read, too, unless `read` says otherwise."),
})

export const manageInbox = Effect.gen(function* () {
  const inbox = yield* Inbox
  return [
    manageEndpoint({
      id: "listMessages",
      tag: "Events",
      method: "GET",
      path: "/manage/v1/sources/{id}/inbox",
      segments: [source],
      summary: "The messages of a form, newest first",
      description:
        "The events that came to the source's address, without repeats, spam and the trash, as messages of people. Which fields are which is set on the source, or guessed. A page that takes too long is shorter than `limit`, even empty: `searched_to` says how far it looked, and `next_cursor` continues while it is not null.",
      action: "event.read",
      parameters: [
        limitParameter,
        textParameter("cursor", "The last page's `next_cursor`, with the same filters."),
        wordParameter(
          "mark",
          INBOX_MARKS,
          "`open`: those that are not done; `unread`: neither read nor done; `done`: done.",
        ),
        textParameter("text", "Only messages with this text in a field, in lower or upper case."),
      ],
      response: searched(inboxMessageShape, "The messages."),
      errors: ["no_such_source", "bad_cursor"],
      params: { no_such_source: "id", bad_cursor: "cursor" },
      respond: ({ path: [id], query: { limit = 100, cursor, mark, text } }) =>
        Effect.map(
          inbox.page(id, { limit, cursor, mark: mark ?? null, text: text === undefined || text === "" ? null : text }),
          ({ items, nextCursor, searchedTo }) => ({
            data: items.map(inboxMessageShape.json),
            has_more: nextCursor !== null,
            next_cursor: nextCursor,
            searched_to: searchedTo,
          }),
        ),
    }),
    manageEndpoint({
      id: "getMessage",
      tag: "Events",
      method: "GET",
      path: "/manage/v1/sources/{id}/inbox/{event}",
      segments: [source, event],
      summary: "One message",
      description:
        "A message with its whole text. All that its form sent is in its event, `GET /manage/v1/events/{id}`.",
      action: "event.read",
      response: one(inboxMessageShape, "The message."),
      errors: ["no_such_source", "no_such_event"],
      params: { no_such_source: "id", no_such_event: "event" },
      respond: ({ path: [id, number] }) => Effect.map(inbox.find(id, number), inboxMessageShape.json),
    }),
    manageEndpoint({
      id: "markMessages",
      tag: "Events",
      method: "POST",
      path: "/manage/v1/sources/{id}/inbox/marks",
      segments: [source],
      summary: "Mark messages as read or done",
      description:
        "Of all messages, or of none if one is not of this source or is in the trash. Marks are kept beside the events and never delivered; the trash and an erasure remove them.",
      action: "inbox.mark",
      body: marks,
      response: one(countShape, "The number of messages whose marks changed."),
      errors: ["no_such_source", "no_such_event", "too_many_events"],
      params: { no_such_source: "id", no_such_event: "/events", too_many_events: "/events" },
      respond: ({ path: [id], body: { events, ...given } }) =>
        Effect.map(inbox.mark(id, events, given), (count) => ({ count })),
    }),
  ]
})
