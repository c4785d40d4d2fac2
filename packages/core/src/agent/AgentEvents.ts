/**
 * Revision 2026-07-28's extension for events (SEP-3415), for agents that read the feed: `events/list` and `events/poll`, and
 * what `events/stream` begins with. Positions are the feed's cursors, so nothing is skipped.
 *
 * Decision: docs/decisions/0091-agents-subscribe-to-sources.md
 */
import { Clock, Effect, Result } from "effect"
import { Feed, type FeedResult } from "../feed/Feed.ts"
import { isJsonList, type Json, JsonNumber, type JsonObject } from "../json/Json.ts"
import { MAX_LIMIT } from "../pagination/Page.ts"
import { Shapes } from "../payload/Shapes.ts"
import { shown } from "../selection/SelectionParams.ts"
import type { AgentReader } from "./AgentTools.ts"
import { USUAL_ITEMS } from "./AgentTool.ts"
import { badParams, type ProtocolError, protocolErrorOf, noSuchEventType } from "./ProtocolError.ts"
import { type EventType, eventTypeJson, eventTypes } from "./EventTypes.ts"
import { occurrenceOf } from "./Occurrence.ts"

/** When a client without more to read should come back. */
const NEXT_POLL_MILLIS = 5_000
const TYPES_OF_PAGE = 100

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

/** Which events a request means, and from where. */
export interface EventsRequest {
  readonly type: EventType
  /** Null: from now on. */
  readonly cursor: string | null
  readonly maxAgeMs: number | null
}

/** Where a subscription begins. */
export interface EventsStart {
  readonly type: EventType
  /** The feed's parameters, without a cursor. */
  readonly query: Pairs
  readonly cursor: string
  /** Whether it begins later than the cursor that was sent. */
  readonly truncated: boolean
}

type Reader = Pick<AgentReader, "scope" | "tables">

export interface AgentEvents {
  /** The results as JSON text. */
  readonly list: (params: JsonObject, reader: Reader) => Effect.Effect<string, ProtocolError>
  readonly poll: (params: JsonObject, reader: Reader) => Effect.Effect<string, ProtocolError>
  /** Checks the parameters that all ways of delivery have. */
  readonly request: (params: JsonObject, reader: Reader) => Effect.Effect<EventsRequest, ProtocolError>
  readonly start: (request: EventsRequest, reader: Reader) => Effect.Effect<EventsStart, ProtocolError>
  /** The result of a method as JSON text; undefined if events have no such method. */
  readonly handle: (
    method: string,
    params: JsonObject,
    reader: Pick<AgentReader, "scope" | "tables" | "webhooks">,
  ) => Effect.Effect<string, ProtocolError> | undefined
}

const noWebhooks: ProtocolError = {
  kind: "forbidden",
  message: "Webhooks are for clients that send a key or a token: subscribe at the address /mcp of the server.",
}

const noStream: ProtocolError = {
  kind: "unsupported",
  message: "Streams of events are for clients of the address /mcp: use events/poll here.",
  data: { feature: "deliveryMode", value: "push" },
}

/** A non-negative integer; null if the parameter is absent, undefined if it is not such a number. */
export const countIn = (value: Json | undefined): number | null | undefined => {
  if (value === undefined || value === null) return null
  return value instanceof JsonNumber && /^\d{1,15}$/.test(value.token) ? Number(value.token) : undefined
}

/** An event type defines its arguments, and no type has any. */
const checkArguments = (given: Json | undefined): Result.Result<void, ProtocolError> => {
  if (given === undefined || given === null) return Result.succeed(undefined)
  if (!(given instanceof Map)) return Result.fail(badParams("arguments must be an object."))
  const [key] = (given as JsonObject).keys()
  return key === undefined
    ? Result.succeed(undefined)
    : Result.fail(badParams(`This event type has no argument ${shown(key)}: send an empty object.`))
}

const positionIn = (params: JsonObject): Result.Result<Omit<EventsRequest, "type">, ProtocolError> => {
  const cursor = params.get("cursor") ?? null
  if (cursor !== null && typeof cursor !== "string") return Result.fail(badParams("cursor must be a text or null."))
  const maxAgeMs = countIn(params.get("maxAgeMs"))
  return maxAgeMs === undefined
    ? Result.fail(badParams("maxAgeMs must be an integer that is not negative."))
    : Result.succeed({ cursor, maxAgeMs })
}

/** The feed's parameters for a type. */
export const feedQueryOf = ({ sourceId }: EventType): Pairs =>
  sourceId === null ? [] : [["source_id", String(sourceId)]]

const firstReceivedAt = ({ items }: FeedResult): number | null => {
  const [first] = items.texts()
  return first === undefined ? null : Date.parse((JSON.parse(first) as { readonly received_at: string }).received_at)
}

/** The occurrences of a page as JSON texts. */
const occurrencesOf = ({ name }: EventType, page: FeedResult): ReadonlyArray<string> =>
  page.items.texts().flatMap((text) => occurrenceOf(name, text) ?? [])

interface TypesPage {
  readonly events: ReadonlyArray<EventType>
  readonly nextCursor: string | null
}

const typesPage = (all: ReadonlyArray<EventType>, params: JsonObject): Result.Result<TypesPage, ProtocolError> => {
  const cursor = params.get("cursor") ?? null
  const from = cursor === null ? 0 : all.findIndex(({ name }) => name === cursor) + 1
  if (cursor !== null && (from === 0 || isJsonList(cursor))) {
    return Result.fail(badParams("cursor is no longer part of the list: begin again without it."))
  }
  const events = all.slice(from, from + TYPES_OF_PAGE)
  return Result.succeed({ events, nextCursor: from + events.length < all.length ? events.at(-1)!.name : null })
}

const typesText = Effect.fnUntraced(function* ({ events, nextCursor }: TypesPage, shapes: Shapes["Service"]) {
  const sourceIds = events.flatMap(({ sourceId }) => sourceId ?? [])
  const schemas = yield* Effect.mapError(shapes.schemas(sourceIds), protocolErrorOf)
  return JSON.stringify({
    events: events.map((type) => eventTypeJson(type, schemas.get(type.sourceId ?? 0))),
    ...(nextCursor === null ? {} : { nextCursor }),
  })
})

export const agentEvents: Effect.Effect<AgentEvents, never, Feed | Shapes> = Effect.gen(function* () {
  const feed = yield* Feed
  const shapes = yield* Shapes

  const typeNamed = Effect.fnUntraced(function* (name: Json | undefined, reader: Reader) {
    if (typeof name !== "string") return yield* Effect.fail(badParams("name must be a text."))
    const found = (yield* Effect.mapError(eventTypes(reader), protocolErrorOf)).find((type) => type.name === name)
    return found ?? (yield* Effect.fail(noSuchEventType(shown(name))))
  })

  const request: AgentEvents["request"] = Effect.fnUntraced(function* (params, reader) {
    const position = yield* Effect.fromResult(positionIn(params))
    const type = yield* typeNamed(params.get("name"), reader)
    yield* Effect.fromResult(checkArguments(params.get("arguments")))
    return { type, ...position }
  })

  /** The page after the cursor, or after the time that `maxAgeMs` allows if that is later. */
  const pageFrom = Effect.fnUntraced(function* (
    { type, cursor, maxAgeMs }: EventsRequest,
    limit: number,
    reader: Reader,
  ) {
    const query = feedQueryOf(type)
    const read = (from: string) => feed.page([...query, ["limit", String(limit)], ["cursor", from]], reader.scope)
    const page = yield* read(cursor!)
    const at = maxAgeMs === null ? null : firstReceivedAt(page)
    if (at === null) return { page, cursor: cursor!, truncated: false }
    const floor = (yield* Clock.currentTimeMillis) - maxAgeMs!
    if (at >= floor) return { page, cursor: cursor!, truncated: false }
    const later = yield* feed.start(query, { time: new Date(Math.max(0, floor)).toISOString() })
    return { page: yield* read(later), cursor: later, truncated: true }
  }, Effect.mapError(protocolErrorOf))

  const start: AgentEvents["start"] = Effect.fnUntraced(function* (wanted, reader) {
    const { type } = wanted
    const query = feedQueryOf(type)
    if (wanted.cursor === null) {
      const cursor = yield* Effect.mapError(feed.start(query, "now"), protocolErrorOf)
      return { type, query, cursor, truncated: false }
    }
    const { cursor, truncated } = yield* pageFrom(wanted, 1, reader)
    return { type, query, cursor, truncated }
  })

  const poll: AgentEvents["poll"] = Effect.fnUntraced(function* (params, reader) {
    const maxEvents = countIn(params.get("maxEvents"))
    if (maxEvents === undefined || maxEvents === 0) {
      return yield* Effect.fail(badParams("maxEvents must be a positive integer."))
    }
    const wanted = yield* request(params, reader)
    if (wanted.cursor === null) {
      const { cursor } = yield* start(wanted, reader)
      return pollText([], { cursor, truncated: false, hasMore: false })
    }
    const { page, truncated } = yield* pageFrom(wanted, Math.min(maxEvents ?? USUAL_ITEMS, MAX_LIMIT), reader)
    return pollText(occurrencesOf(wanted.type, page), { cursor: page.nextCursor, truncated, hasMore: page.hasMore })
  })

  const list: AgentEvents["list"] = Effect.fnUntraced(function* (params, reader) {
    const all = yield* Effect.mapError(eventTypes(reader), protocolErrorOf)
    return yield* typesText(yield* Effect.fromResult(typesPage(all, params)), shapes)
  })

  return {
    list,
    poll,
    request,
    start,
    handle: (method, params, reader) => {
      if (method === "events/list") return list(params, reader)
      if (method === "events/poll") return poll(params, reader)
      if (method === "events/subscribe") return reader.webhooks?.subscribe(params) ?? Effect.fail(noWebhooks)
      if (method === "events/unsubscribe") return reader.webhooks?.unsubscribe(params) ?? Effect.fail(noWebhooks)
      return method === "events/stream" ? Effect.fail(noStream) : undefined
    },
  }
})

const pollText = (
  events: ReadonlyArray<string>,
  rest: { readonly cursor: string; readonly truncated: boolean; readonly hasMore: boolean },
): string => `{"events":[${events.join(",")}],${JSON.stringify({ ...rest, nextPollMs: NEXT_POLL_MILLIS }).slice(1)}`
