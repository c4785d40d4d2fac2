/**
 * The feed for clients that wait: a page that would be empty waits for the next event, or events are streamed as they
 * come, each with the cursor after it as its id. Both count together, and a waiting client's key is looked up again
 * before anything is shown.
 */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Feed, type FeedResult } from "@data-cabinet/core/feed/Feed"
import { behind, type FollowOptions, FollowFeed } from "@data-cabinet/core/feed/FollowFeed"
import { ClientFollowers } from "@data-cabinet/core/follower/ClientFollowers"
import { Authenticate, keyName } from "@data-cabinet/core/key/Authenticate"
import type { ReadScopeOrAll } from "@data-cabinet/core/key/ReadScope"
import { monotonicMillis } from "@data-cabinet/core/runtime/Deadline"
import { fromResult } from "@data-cabinet/core/runtime/FromResult"
import { Clock, Context, Effect, Latch, Option } from "effect"
import type { ApiError } from "../server/ApiError.ts"
import { DEADLINE_MILLIS, type KeyedRequest, type OwnResponse } from "../api/EndpointRoute.ts"
import { keyHeaders } from "../api/WithRateHeaders.ts"
import { pageBody } from "../html/PageBody.ts"
import {
  type EventStreams,
  eventStreamsWithin,
  eventText,
  type NextEvent,
  type StreamLimits,
} from "../server/EventStream.ts"
import type { Request, Response } from "../server/Request.ts"
import { preferredWait } from "../api/Preferences.ts"

export const EVENT_STREAM = "text/event-stream"

/** The longest wait that a request may set. */
export const MAX_WAIT_SECONDS = 60

/** How long a stream waits before it checks by itself. */
const STREAM_WAIT_MILLIS = 60_000

/** A client refused for too many waits may retry after this time: by then most waits are over, or can be ended. */
export const WAIT_RETRY_SECONDS = 5

/** How many requests may wait and streams be open: of one key, and of all. */
export const FeedStreamLimits = Context.Reference<StreamLimits>("@data-cabinet/http-node/feed/FeedStreamLimits", {
  defaultValue: () => ({ ofOne: 10, ofAll: 1_000, check: 5_000, silence: 15_000 }),
})

/** How long a request of the feed wants to wait, in seconds; null if not at all. */
export const waitOf = ({ method, headers }: Request): number | null =>
  method === "GET" ? preferredWait(headers["prefer"], MAX_WAIT_SECONDS) : null

export const feedPageBody = ({ items, hasMore, nextCursor }: FeedResult): Uint8Array =>
  pageBody(items, `"has_more":${hasMore},"next_cursor":${JSON.stringify(nextCursor)}`)

/** A page that nobody else is given. */
const feedPage = (page: FeedResult): OwnResponse => ({
  headers: {},
  body: feedPageBody(page),
  sent: () => page.items.release(),
})

/** Clients waiting at one place get the same page. */
const streamed = new WeakMap<FeedResult, string>()

const streamText = (page: FeedResult): string => {
  const known = streamed.get(page)
  if (known !== undefined) return known
  const cursors = page.cursors!()
  const text = page.items
    .texts()
    .map((item, index) => eventText(cursors[index]!, item))
    .join("")
  streamed.set(page, text)
  return text
}

type Refusal = ApiError | StoreUnavailable

/** The operations of a waiting request, for this key and this long. */
export type Wait = <A, E>(
  who: string,
  sent: Request,
  work: (leave: Latch.Latch) => Effect.Effect<A, E>,
  refused: (message: string) => E,
) => Effect.Effect<A, E>

/** Counts requests that wait, and ends their waits when the server stops. */
const waitsOf =
  (streams: EventStreams): Wait =>
  (who, sent, work, refused) =>
    Effect.suspend(() => {
      const release = streams.hold(who)
      if (typeof release === "string") return Effect.fail(refused(release))
      const leave = Latch.makeUnsafe(false)
      const forget = sent.onStop(() => leave.openUnsafe())
      const end = Effect.sync(() => {
        forget()
        release()
      })
      return Effect.ensuring(work(leave), end)
    })

/** For the people and programs of a cabinet. */
export const feedWaits = Effect.gen(function* () {
  return waitsOf(yield* eventStreamsWithin(yield* FeedStreamLimits, "waiting requests"))
})

const tooMany = (message: string): Refusal => ({
  code: "rate_limited",
  message,
  param: null,
  retryAfter: WAIT_RETRY_SECONDS,
})

/** The parameters with a follower's cursor in place of its name. */
const resolvedBy =
  (followers: ClientFollowers["Service"]) =>
  ({ query, sent }: KeyedRequest): Effect.Effect<KeyedRequest["query"], Refusal> =>
    query.some(([name]) => name === "follower")
      ? followers.resolve(Buffer.from(keyName(keyHeaders(sent)), "base64"), query)
      : Effect.succeed(query)

/** A stream in another form, which checks its key itself. */
const streamingOf =
  (streams: EventStreams, again: (sent: Request) => Effect.Effect<ReadScopeOrAll, Refusal>) =>
  (
    sent: Request,
    next: (again: Effect.Effect<ReadScopeOrAll, Refusal>) => NextEvent,
  ): Effect.Effect<Response, Refusal> =>
    Effect.suspend(() => {
      const who = keyName(keyHeaders(sent))
      const refused = streams.refusal(who)
      if (refused !== null) return Effect.fail(tooMany(refused))
      return Effect.succeed(streams.response(who, Effect.succeed(next(again(sent))), Effect.succeed(true)))
    })

export const feedForms = Effect.gen(function* () {
  const feed = yield* Feed
  const followed = yield* FollowFeed
  const resolved = resolvedBy(yield* ClientFollowers)
  const authenticate = yield* Authenticate
  const clock = yield* Clock.Clock
  const streams = yield* eventStreamsWithin(yield* FeedStreamLimits, "waiting requests and streams")

  const again = (sent: Request): Effect.Effect<ReadScopeOrAll, Refusal> =>
    fromResult(() => authenticate.again(keyHeaders(sent), monotonicMillis(clock) + DEADLINE_MILLIS))

  const wait = waitsOf(streams)
  const page = (request: KeyedRequest): Effect.Effect<OwnResponse, Refusal> =>
    Effect.flatMap(resolved(request), (query) => Effect.map(feed.page(query, request.scope), feedPage))

  const waiting = (request: KeyedRequest, seconds: number): Effect.Effect<OwnResponse, Refusal> =>
    Effect.flatMap(resolved(request), (query) => waitingFor({ ...request, query }, seconds))

  const waitingFor = ({ query, scope, sent }: KeyedRequest, seconds: number): Effect.Effect<OwnResponse, Refusal> =>
    wait(
      keyName(keyHeaders(sent)),
      sent,
      (leave) => {
        const options: FollowOptions<Refusal> = { waitMillis: seconds * 1_000, scope, again: again(sent), leave }
        return Effect.map(followed.next(query, options), (came) => ({
          headers: { "preference-applied": `wait=${seconds}` },
          body: feedPageBody(came.page),
          waitedMillis: came.waitedMillis,
        }))
      },
      tooMany,
    )

  const stream = Effect.fnUntraced(function* (request: KeyedRequest): Effect.fn.Return<OwnResponse, Refusal> {
    const { scope, sent } = request
    const who = keyName(keyHeaders(sent))
    const refused = streams.refusal(who)
    if (refused !== null) return yield* Effect.fail(tooMany(refused))
    const query = yield* resolved(request)
    const lastId = sent.headers["last-event-id"] ?? ""
    // An invalid cursor is refused before the stream begins.
    const first = yield* feed.page(lastId === "" ? query : behind(query, lastId), scope)
    let said = Option.some(first)
    let position = behind(query, first.nextCursor)
    const mayStill = again(sent)
    const come: Effect.Effect<FeedResult, Refusal> = Effect.flatMap(mayStill, (now) => {
      const options = { waitMillis: STREAM_WAIT_MILLIS, scope: now, again: mayStill }
      return Effect.map(followed.next(position, options), (came) => came.page)
    })
    const next: NextEvent = Effect.suspend(() => {
      const shown = Option.isSome(said) ? Effect.succeed(said.value) : come
      said = Option.none()
      return Effect.matchEffect(shown, {
        onSuccess: (result) => {
          position = behind(position, result.nextCursor)
          return result.items.length === 0 ? next : Effect.succeed(streamText(result))
        },
        // The client reconnects from its last event; that response says why it may not read, or when it may.
        onFailure: () => Effect.succeed(null),
      })
    })
    const isLive = Effect.match(mayStill, { onSuccess: () => true, onFailure: () => false })
    const response = streams.response(who, Effect.succeed(next), isLive)
    return sent.method === "HEAD" ? { headers: response.headers, body: null } : response
  })

  /**
   * For clients waiting in another form: counted together with those waiting here, and looked up again the same way.
   */
  const following = <A, E>(
    sent: Request,
    work: (options: Pick<FollowOptions<Refusal>, "again" | "leave">) => Effect.Effect<A, E>,
    refused: (message: string) => E,
  ): Effect.Effect<A, E> =>
    wait(keyName(keyHeaders(sent)), sent, (leave) => work({ again: again(sent), leave }), refused)

  const streaming = streamingOf(streams, again)
  return { page, waiting, stream, following, streaming }
})

export type FeedForms = Effect.Success<typeof feedForms>
