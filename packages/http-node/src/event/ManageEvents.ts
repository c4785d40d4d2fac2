/** Single events over the management API, and the feed as the read API has it. */
import { deliveryShape } from "@data-cabinet/core/delivery/Attempt"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { EventBrowser, eventListText } from "@data-cabinet/core/event/EventBrowser"
import { EventContext } from "@data-cabinet/core/event/EventContext"
import { noSuchEvent } from "@data-cabinet/core/error/NoSuchEvent"
import { EventDetail, NO_ORIGINAL } from "@data-cabinet/core/event/EventDetail"
import { EVENT_STATES } from "@data-cabinet/core/event/EventListStore"
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { originalShape } from "@data-cabinet/core/event/OriginalShape"
import { Feed } from "@data-cabinet/core/feed/Feed"
import { FollowFeed } from "@data-cabinet/core/feed/FollowFeed"
import { Effect, Option } from "effect"
import { eventWithContextShape, feedStartShape, listedEventShape } from "./EventShapes.ts"
import { FEED_DESCRIPTION, FEED_QUERY, listEvents } from "../feed/FeedEndpoint.ts"
import { feedPageBody, feedWaits, MAX_WAIT_SECONDS, WAIT_RETRY_SECONDS } from "../feed/FeedForms.ts"
import { one, searched } from "../manage/ManageResponses.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import type { ManageError } from "../manage/ManageError.ts"
import {
  idParameter,
  idSegment,
  limitParameter,
  textParameter,
  timeParameter,
  wordParameter,
} from "../manage/ManageParameters.ts"

const id = idSegment("The event's number.")

const readWait = (text: string): number | undefined =>
  /^\d{1,2}$/.test(text) && Number(text) <= MAX_WAIT_SECONDS ? Number(text) : undefined

const missing = (message: string): ManageError => ({ code: "no_such_event", message })

export const manageEvents = Effect.gen(function* () {
  const detail = yield* EventDetail
  const contexts = yield* EventContext
  const feed = yield* Feed
  const followed = yield* FollowFeed
  const waiting = yield* feedWaits
  const browser = yield* EventBrowser

  const found = (event: number) =>
    Effect.flatMap(detail.find(event), (record) =>
      Option.isSome(record) ? Effect.succeed(record.value) : Effect.fail(missing(noSuchEvent(event))),
    )

  const common = { tag: "Events", segments: [id], errors: ["no_such_event"], params: { no_such_event: "id" } } as const
  return [
    manageEndpoint({
      id: "readFeed",
      tag: "Events",
      method: "GET",
      path: "/manage/v1/feed",
      summary: "The event feed",
      description: FEED_DESCRIPTION,
      action: "row.read",
      readApiParameters: FEED_QUERY,
      parameters: [
        {
          name: "wait",
          description: `Instead of an empty page at once, wait up to this many seconds for the next event, ${MAX_WAIT_SECONDS} at most.`,
          schema: { type: "integer", minimum: 0, maximum: MAX_WAIT_SECONDS, default: 0 },
          read: readWait,
          expected: `an integer from 0 to ${MAX_WAIT_SECONDS}`,
        },
      ],
      waitMillis: ({ wait = 0 }) => wait * 1_000,
      response: { status: 200, description: listEvents.response.description, schema: listEvents.response.schema },
      errors: listEvents.errors.filter((code) => code !== "bad_follower"),
      respond: ({ pairs, query: { wait = 0 }, actor, session, request, again, waited }) => {
        const pageQuery = pairs.filter(([name]) => name !== "wait")
        if (wait === 0 || request.method !== "GET") return Effect.map(feed.page(pageQuery), feedPageBody)
        const who = session === null ? `${actor.kind} ${actor.id}` : `session ${session.id}`
        const options = { waitMillis: wait * 1_000, again: Effect.as(again, null) }
        return waiting<Uint8Array, ManageError | StoreUnavailable>(
          who,
          request,
          (leave) =>
            Effect.map(
              followed.next<ManageError | StoreUnavailable>(pageQuery, { ...options, leave }),
              ({ page, waitedMillis }) => {
                waited(waitedMillis)
                return feedPageBody(page)
              },
            ),
          (message) => ({ code: "rate_limited", message, retryAfter: WAIT_RETRY_SECONDS }),
        )
      },
    }),
    manageEndpoint({
      id: "findFeedStart",
      tag: "Events",
      method: "GET",
      path: "/manage/v1/feed/start",
      summary: "Where to begin in the feed",
      description:
        "A cursor to begin with: after all current events, before the first one received at or after a time, or before the newest N. Events are in the order of acceptance, so an event received a moment before the time may follow.",
      action: "row.read",
      parameters: [
        idParameter("source_id", "For only events of this source."),
        wordParameter("channel", CHANNELS, "For only events of this channel."),
        textParameter("from", "`now`, or a time (RFC 3339)."),
        { ...limitParameter, name: "last", description: "Before this many of the newest events, instead of `from`." },
      ],
      response: one(feedStartShape, "The cursor."),
      errors: ["bad_period"],
      respond: ({ query: { source_id, channel, from, last } }) => {
        if ((from === undefined) === (last === undefined)) {
          const message = "Either from or last must be given, and not both."
          return Effect.fail<ManageError>({ code: "bad_param", message, param: "from" })
        }
        const filter = [
          ...(source_id === undefined ? [] : [["source_id", String(source_id)] as const]),
          ...(channel === undefined ? [] : [["channel", channel] as const]),
        ]
        const start = last !== undefined ? { last } : from === "now" ? "now" : { time: from! }
        return Effect.map(feed.start(filter, start), (cursor) => feedStartShape.json({ cursor }))
      },
    }),
    manageEndpoint({
      id: "listEvents",
      tag: "Events",
      method: "GET",
      path: "/manage/v1/events",
      summary: "Events, newest first",
      description:
        "Filters apply together. A page that takes too long is shorter than `limit`, even empty: `searched_to` says how far it looked, and `next_cursor` continues while it is not null. With the state `trashed` the list is the trash, most recently trashed first.",
      action: "event.read",
      parameters: [
        limitParameter,
        textParameter("cursor", "The last page's `next_cursor`, with the same filters."),
        idParameter("source_id", "Only events of this source."),
        wordParameter("channel", CHANNELS, "Only events of this channel."),
        wordParameter(
          "state",
          EVENT_STATES,
          "`row`: those that have a row, or will; `repeat`: repeats of others; `empty`: without a filled field; `history`: of files and first polls; `unverified`: not their sender's; `invalid`: those that violate their source's own schema; `spam`: spam by their source's rules; `trashed`: in the trash; `purged`: erased.",
        ),
        idParameter("event", "Only the event of this number."),
        textParameter("text", "Only events with this text in their payload as it was sent, in lower or upper case."),
        timeParameter("from", "Only events received at this time or later."),
        timeParameter("to", "Only events received before this time."),
      ],
      response: searched(listedEventShape, "The events."),
      errors: ["bad_cursor", "bad_period", "no_such_source"],
      respond: ({ query: { limit = 100, cursor, source_id, channel, state, event, text, from, to } }) =>
        Effect.map(
          browser.page({
            limit,
            cursor,
            sourceId: source_id ?? null,
            channel: channel ?? null,
            state: state ?? null,
            event: event ?? null,
            text: text === undefined || text === "" ? null : text,
            from: from ?? null,
            to: to ?? null,
          }),
          (page) => Buffer.from(`${eventListText(page)}\n`),
        ),
    }),
    manageEndpoint({
      ...common,
      id: "getEvent",
      method: "GET",
      path: "/manage/v1/events/{id}",
      summary: "One event",
      description: "An event as the feed has it, with its original request, its row and its deliveries.",
      action: "event.read",
      response: one(eventWithContextShape, "The event."),
      respond: Effect.fnUntraced(function* ({ path: [event] }) {
        const inContext = yield* contexts.find(event)
        if (Option.isNone(inContext)) return yield* Effect.fail(missing(noSuchEvent(event)))
        const { event: text, row, rowWaits, rowSetAside, spam, ...record } = inContext.value
        const deliveries = JSON.stringify(record.deliveries.map(deliveryShape.json))
        const original = JSON.stringify(record.original === null ? null : originalShape.json(record.original))
        const aside = JSON.stringify(rowSetAside)
        // The event and its row as stored, to the last digit.
        return Buffer.from(
          `{"event":${text},"original":${original},"row":${row},"row_waits":${rowWaits},"row_set_aside":${aside},"spam":${JSON.stringify(spam)},"deliveries":${deliveries}}\n`,
        )
      }),
    }),
    manageEndpoint({
      ...common,
      id: "getOriginal",
      method: "GET",
      path: "/manage/v1/events/{id}/original",
      summary: "The bytes of an original request",
      description: "The first 65,536 bytes of the body as received. Sent so that a browser saves and never shows them.",
      action: "event.read",
      response: {
        status: 200,
        description: "The bytes.",
        schema: { type: "string", contentMediaType: "application/octet-stream" },
        contentType: "application/octet-stream",
      },
      respond: ({ path: [event] }) =>
        Effect.flatMap(found(event), ({ original }) =>
          original === null ? Effect.fail(missing(NO_ORIGINAL)) : Effect.succeed(original.body),
        ),
    }),
  ]
})
