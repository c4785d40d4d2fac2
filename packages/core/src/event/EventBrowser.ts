/**
 * Lists events for people, newest first, by filters. A page takes bounded time however many events there are: a page
 * that runs out of time is short, and `next_cursor` continues it. Refuses unknown sources, invalid times, and cursors
 * of another list.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { type CursorWalk, decodeCursor, encodeCursor } from "../pagination/Cursor.ts"
import { CursorKeys } from "../pagination/CursorKey.ts"
import { fillPage } from "../pagination/FillPage.ts"
import { instrument } from "../runtime/Instrument.ts"
import { Sources } from "../source/Sources.ts"
import { isTimestamp, notATimestamp } from "../text/Timestamp.ts"
import {
  type EventFilter,
  EventListStore,
  type EventPlace,
  type ListedEvent,
  listedShape,
  TextInFiles,
} from "./EventListStore.ts"

/** The error for refused lists of events. */
export class EventListError extends Schema.TaggedError<EventListError>()("EventListError", {
  code: Schema.Literals(["bad_cursor", "bad_period", "no_such_source"]),
  message: Schema.String,
  /** The parameter at fault. */
  param: Schema.String,
}) {}

/** Which events to list. */
export interface EventQuery extends Partial<EventFilter> {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** A page of the list of events. */
export interface EventList {
  readonly items: ReadonlyArray<ListedEvent>
  /** Where the next page begins; null on the last one. */
  readonly nextCursor: string | null
  /** How far back events were searched, in RFC 3339; null if all were. */
  readonly searchedTo: string | null
}

/** A page ends once it has this many characters. */
const PAGE_LENGTH = 4 * 1024 * 1024
/** How many events a slice examines when it filters. */
const SLICE_EVENTS = 4_000
/** The same if their payloads or marks must be read. */
const SLICE_PAYLOADS = 1_000

export class EventBrowser extends Context.Service<
  EventBrowser,
  { readonly page: (query: EventQuery) => Effect.Effect<EventList, EventListError | StoreUnavailable> }
>()("@data-cabinet/core/event/EventBrowser") {
  static readonly layer = Layer.effect(
    EventBrowser,
    Effect.gen(function* () {
      const store = yield* EventListStore
      const sources = yield* Sources
      const keys = yield* CursorKeys

      const walkOf = Effect.fnUntraced(function* (filter: EventFilter) {
        const { mark, ...rest } = filter
        // Without a mark the scope is that of earlier versions, whose cursors stay valid.
        const scope = [...Object.values(rest), ...(mark === null ? [] : [mark])]
        const walk: CursorWalk = { kind: "events", scope, key: yield* keys.key }
        return walk
      })

      const checked = Effect.fnUntraced(function* (filter: EventFilter) {
        const { sourceId, from, to } = filter
        for (const [param, time] of [
          ["from", from],
          ["to", to],
        ] as const) {
          if (time !== null && !isTimestamp(time)) yield* refuse("bad_period", notATimestamp(time), param)
        }
        if (sourceId !== null && Option.isNone(yield* sources.get(sourceId))) {
          yield* refuse("no_such_source", `Source ${sourceId} does not exist.`, "source_id")
        }
      })

      return EventBrowser.of({
        page: Effect.fnUntraced(function* ({ limit, cursor, ...given }) {
          const filter = { ...NO_FILTER, ...given }
          yield* checked(filter)
          const walk = yield* walkOf(filter)
          const after = cursor === undefined ? null : placeIn(walk, cursor)
          if (after === undefined) {
            return yield* refuse(
              "bad_cursor",
              "cursor must be a next_cursor of this list, with the same filters.",
              "cursor",
            )
          }
          const { items, next, searchedTo } = yield* instrument("event.list", fill(store, filter, after, limit)).pipe(
            Effect.catchIf(
              (error): error is TextInFiles => error instanceof TextInFiles,
              ({ since, location }) => refuse("bad_period", textInFiles(since, location), "from"),
            ),
          )
          return { items, nextCursor: next === null ? null : encodeCursor(walk, next), searchedTo }
        }),
      })
    }),
  )
}

const NO_FILTER: EventFilter = {
  sourceId: null,
  channel: null,
  state: null,
  event: null,
  text: null,
  from: null,
  to: null,
  mark: null,
}

const refuse = (code: EventListError["code"], message: string, param: string) =>
  Effect.fail(new EventListError({ code, message, param }))

const textInFiles = (since: string, location: string | null): string =>
  `A text is searched for in events received since ${since}: set from to this time or a later one. Earlier events are in files of Parquet${location === null ? "" : ` at ${location}`}. Search these with DuckDB: SELECT * FROM '*.parquet' WHERE payload ILIKE '%text%'.`

const placeIn = (walk: CursorWalk, cursor: string): EventPlace | undefined =>
  decodeCursor(walk, cursor)?.map((part) => part ?? "")

const examinedFor = ({ state, text, from, to, mark }: EventFilter, limit: number): number =>
  text !== null || mark !== null
    ? SLICE_PAYLOADS
    : state === null && from === null && to === null
      ? limit + 1
      : SLICE_EVENTS

const fill = (store: EventListStore["Service"], filter: EventFilter, after: EventPlace | null, limit: number) => {
  const examine = examinedFor(filter, limit)
  return fillPage({
    limit,
    after,
    slice: (place: EventPlace | null, room) => store.slice({ filter, after: place, limit: room, examine }),
    sizeOf: ({ event }) => event.length,
    maxSize: PAGE_LENGTH,
  })
}

/** As JSON text. */
export const listedEventText = (listed: ListedEvent): string =>
  `${listed.event.slice(0, -1)},${JSON.stringify(listedShape.json(listed)).slice(1)}`

/** A page as JSON text. */
export const eventListText = ({ items, nextCursor, searchedTo }: EventList): string =>
  `{"data":[${items.map(listedEventText).join(",")}],"has_more":${nextCursor !== null},"next_cursor":${JSON.stringify(nextCursor)},"searched_to":${JSON.stringify(searchedTo)}}`
