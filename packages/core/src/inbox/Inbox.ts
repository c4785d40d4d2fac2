/**
 * The messages that people sent through a form: events of a source that came to its intake address, apart from repeats, spam and
 * the trash. Lists are walked like those of events, in bounded time. Refuses sources and events that do not exist.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { EventBrowser, type EventListError } from "../event/EventBrowser.ts"
import { EventListStore, type InboxMark, type ListedEvent } from "../event/EventListStore.ts"
import { MAX_TRASH_EVENTS } from "../event/Trash.ts"
import { noSuchEvent } from "../error/NoSuchEvent.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Json, JsonObject } from "../json/Json.ts"
import { CabinetTimeZone } from "../selection/CabinetTimeZone.ts"
import type { Source } from "../source/Source.ts"
import { Sources } from "../source/Sources.ts"
import { FORM_FIELD_NAMES, type InboxFields, inboxFields, looksLikeForm } from "./InboxFields.ts"
import { type InboxMessage, LISTED_LENGTH, type MessageMarks, messageOf, readMessage } from "./InboxMessage.ts"
import { type InboxFigures, InboxStore } from "./InboxStore.ts"

/** A refused request to an inbox. */
export class InboxError extends Schema.TaggedError<InboxError>()("InboxError", {
  code: Schema.Literals(["no_such_source", "no_such_event", "too_many_events", "bad_cursor", "bad_period"]),
  message: Schema.String,
}) {}

/** Which messages to list; null does not filter. */
export interface InboxQuery {
  readonly mark: InboxMark | null
  /** Only messages with this text in a field, ignoring case. */
  readonly text: string | null
  readonly limit: number
  readonly cursor?: string | undefined
  /** With all their text, and not only its beginning. */
  readonly whole?: true
}

/** A page of messages, newest first. */
export interface InboxPage {
  readonly items: ReadonlyArray<InboxMessage>
  readonly nextCursor: string | null
  /** How far back messages were searched, RFC 3339; null if all were. */
  readonly searchedTo: string | null
}

/** A message with everything that its form sent. */
export interface OpenMessage {
  readonly message: InboxMessage
  readonly fields: InboxFields
  readonly payload: Json
  readonly state: ListedEvent["state"]
  readonly deliveries: ListedEvent["deliveries"]
}

/** The other messages of an e-mail address. */
export interface EarlierMessages {
  readonly count: number
  /** Whether all messages were searched, and not only the latest. */
  readonly whole: boolean
}

/** From how many of the latest events the fields are guessed. */
const SAMPLE = 20
/** How many of the latest events are searched for other messages of an address. */
const SEARCHED_EARLIER = 1_000
/** How many of them are counted. */
const MOST_EARLIER = 100
/** The longest e-mail address (RFC 5321). A search for a longer text would only cost time, and one of 100,000 letters all of it. */
const LONGEST_EMAIL = 254
/** How many days the figures have. */
export const INBOX_DAYS = 28
/** The most events that are counted for the figures. */
const MOST_COUNTED = 20_000

type Returns<A, E = never> = Effect.Effect<A, E | StoreUnavailable>

export class Inbox extends Context.Service<
  Inbox,
  {
    /** The sources that have an inbox: it is switched on, or their fields look like a contact form's. */
    readonly forms: Returns<ReadonlyArray<Source>>
    readonly page: (sourceId: number, query: InboxQuery) => Returns<InboxPage, InboxError>
    readonly find: (sourceId: number, event: number) => Returns<InboxMessage, InboxError>
    /** The same, with everything that its form sent. */
    readonly open: (sourceId: number, event: number) => Returns<OpenMessage, InboxError>
    /** How many messages came from the same e-mail address before this one. */
    readonly earlier: (sourceId: number, message: InboxMessage) => Returns<EarlierMessages, InboxError>
    readonly figures: (sourceId: number) => Returns<InboxFigures>
    /** Marks messages, all of them or none. A message marked as done is also read. Returns how many changed. */
    readonly mark: (
      sourceId: number,
      events: ReadonlyArray<number>,
      marks: Partial<MessageMarks>,
    ) => Returns<number, InboxError>
  }
>()("@data-cabinet/core/inbox/Inbox") {
  static readonly layer = Layer.effect(
    Inbox,
    Effect.gen(function* () {
      const store = yield* InboxStore
      const sources = yield* Sources
      const timeZone = yield* CabinetTimeZone
      const { sourceOf, open, page, earlier } = yield* reading

      return Inbox.of({
        forms: Effect.gen(function* () {
          const [all, fields] = yield* Effect.all([sources.list, store.fields(FORM_FIELD_NAMES)], { concurrency: 2 })
          return all.filter((source) => isForm(source, fields.get(source.id) ?? []))
        }),
        page,
        open,
        find: (sourceId, event) => Effect.map(open(sourceId, event), ({ message }) => message),
        earlier,
        figures: (sourceId) => store.figures({ sourceId, days: INBOX_DAYS, timeZone, most: MOST_COUNTED }),
        mark: Effect.fnUntraced(function* (sourceId, wanted, marks) {
          const chosen = [...new Set(wanted)]
          if (chosen.length > MAX_TRASH_EVENTS) {
            const message = `At most ${MAX_TRASH_EVENTS} events at a time; there were ${chosen.length}.`
            return yield* new InboxError({ code: "too_many_events", message })
          }
          yield* sourceOf(sourceId)
          const all = marks.done === true ? { read: true, ...marks } : marks
          const { changed, missing } = yield* store.mark(sourceId, chosen, all)
          if (missing.length === 0) return changed
          const message = `Source ${sourceId} has no message ${missing.slice(0, 5).join(", ")}${missing.length > 5 ? ", …" : ""}.`
          return yield* new InboxError({ code: "no_such_event", message })
        }),
      })
    }),
  )
}

/** Reads an inbox, over the list of events. */
const reading = Effect.gen(function* () {
  const sources = yield* Sources
  const browser = yield* EventBrowser
  const events = yield* EventListStore
  const store = yield* InboxStore

  const sourceOf = (id: number) =>
    Effect.flatMap(sources.get(id), (found) =>
      Option.isSome(found)
        ? Effect.succeed(found.value)
        : Effect.fail(new InboxError({ code: "no_such_source", message: `Source ${id} does not exist.` })),
    )

  const latest = (sourceId: number, text: string | null, limit: number, examine: number) =>
    events
      .slice({ filter: messagesOf(sourceId, null, text), after: null, limit, examine })
      // The first slice is of rows.
      .pipe(Effect.catchTag("TextInFiles", Effect.die))

  const fieldsOf = Effect.fnUntraced(function* (source: Source) {
    const { found } = yield* latest(source.id, null, SAMPLE, SAMPLE)
    const payloads = found.map(({ event }) => readMessage(event).payload).filter(isObject)
    return inboxFields(source, payloads)
  })

  const marksOf = Effect.fnUntraced(function* (listed: ReadonlyArray<ListedEvent>) {
    const read = listed.map(({ event }) => readMessage(event))
    const marks = read.length === 0 ? new Map() : yield* store.marks(read.map(({ id }) => id))
    return read.map((one) => ({ one, marks: marks.get(one.id) ?? UNMARKED }))
  })

  const open = Effect.fnUntraced(function* (sourceId: number, event: number) {
    const fields = yield* fieldsOf(yield* sourceOf(sourceId))
    const { items } = yield* refusedAsInbox(browser.page({ sourceId, event, limit: 1 }))
    const [listed] = items
    const [marked] = yield* marksOf(items)
    if (listed === undefined || marked === undefined) {
      return yield* new InboxError({ code: "no_such_event", message: noSuchEvent(event) })
    }
    const message = messageOf(marked.one, fields, marked.marks)
    const { state, deliveries } = listed
    return { message, fields, payload: marked.one.payload, state, deliveries }
  })

  const page = Effect.fnUntraced(function* (sourceId, { mark, text, limit, cursor, whole }) {
    const fields = yield* fieldsOf(yield* sourceOf(sourceId))
    const list = yield* refusedAsInbox(browser.page({ ...messagesOf(sourceId, mark, text), limit, cursor }))
    const items = (yield* marksOf(list.items)).map(({ one, marks }) =>
      messageOf(one, fields, marks, whole ? undefined : LISTED_LENGTH),
    )
    return { items, nextCursor: list.nextCursor, searchedTo: list.searchedTo }
  })

  const earlier = Effect.fnUntraced(function* (sourceId, { eventId, email }) {
    if (email === null || email.length > LONGEST_EMAIL) return { count: 0, whole: true }
    const { email: field } = yield* fieldsOf(yield* sourceOf(sourceId))
    const { found, next } = yield* latest(sourceId, email, MOST_EARLIER, SEARCHED_EARLIER)
    const folded = email.toLowerCase()
    const isTheirs = ({ event }: ListedEvent) => {
      const one = readMessage(event)
      const theirs = messageOf(one, { name: null, email: field, subject: null, message: null }, UNMARKED).email
      return one.id < eventId && theirs?.toLowerCase() === folded
    }
    return { count: found.filter(isTheirs).length, whole: next === null }
  })

  return { sourceOf, open, page, earlier }
})

const refusedAsInbox = <A>(work: Returns<A, EventListError>): Returns<A, InboxError> =>
  Effect.catchTag(work, "EventListError", ({ code, message }) => Effect.fail(new InboxError({ code, message })))

const UNMARKED: MessageMarks = { read: false, done: false }

const isObject = (value: Json): value is JsonObject => value instanceof Map

/** A verified sender is a program. */
const isForm = ({ inbox, verify, archived }: Source, fields: ReadonlyArray<string>): boolean =>
  inbox === null ? !archived && verify === null && looksLikeForm(fields) : inbox === "on"

const messagesOf = (sourceId: number, mark: InboxMark | null, text: string | null) => ({
  sourceId,
  channel: "webhook" as const,
  state: "row" as const,
  event: null,
  text,
  from: null,
  to: null,
  mark,
})
