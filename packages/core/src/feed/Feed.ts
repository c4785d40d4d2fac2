/** Reads the event feed page by page, for the API, the command line and the library. */
import { ERROR_MEANINGS } from "../error/ErrorCode.ts"
import { Context, Effect, Layer, Option } from "effect"
import { instrument } from "../runtime/Instrument.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { CursorKeys } from "../pagination/CursorKey.ts"
import type { Items } from "../pagination/Items.ts"
import { mayReadSource, type ReadScopeOrAll } from "../key/ReadScope.ts"
import { Sources } from "../source/Sources.ts"
import { isTimestamp, notATimestamp } from "../text/Timestamp.ts"
import { FeedError } from "./FeedError.ts"
import { feedParams, writeCursor } from "./FeedParams.ts"
import { FEED_START, type FeedPosition, FeedStore } from "./FeedStore.ts"
import { type FeedStart, FeedTailStore } from "./FeedTailStore.ts"

/** A page of the feed. */
export interface FeedResult {
  /** Each item is an Event. */
  readonly items: Items
  readonly hasMore: boolean
  /** Where to continue, now or later; set on every page, including an empty one. */
  readonly nextCursor: string
  /** The cursor after each item; null if only the page's is known. */
  readonly cursors: (() => ReadonlyArray<string>) | null
}

export class Feed extends Context.Service<
  Feed,
  {
    /**
     * Returns one page. Filtering by a deleted source fails (404), though its events stay in the whole feed; filtering
     * by a source that is switched off works. A reader with a scope gets only its own events, and cursors among them.
     */
    readonly page: (
      params: ReadonlyArray<readonly [name: string, value: string]>,
      scope?: ReadScopeOrAll,
    ) => Effect.Effect<FeedResult, FeedError | StoreUnavailable>
    /** The cursor of a start, for the source and the channel among the parameters. */
    readonly start: (
      params: ReadonlyArray<readonly [name: string, value: string]>,
      start: FeedStart,
    ) => Effect.Effect<string, FeedError | StoreUnavailable>
  }
>()("@data-cabinet/core/feed/Feed") {
  static readonly layer = Layer.effect(
    Feed,
    Effect.gen(function* () {
      const store = yield* FeedStore
      const sources = yield* Sources
      const keys = yield* CursorKeys
      const tail = yield* FeedTailStore
      return Feed.of({
        start: Effect.fnUntraced(function* (params, start) {
          const key = yield* keys.key
          const { sourceId, channel } = yield* feedParams(key, params)
          if (typeof start === "object" && "time" in start && !isTimestamp(start.time)) {
            return yield* new FeedError({ code: "bad_period", message: notATimestamp(start.time), param: "from" })
          }
          // The page after this cursor will report the unknown source.
          if (sourceId === "unknown") return writeCursor(key, { sourceId, channel }, FEED_START)
          const place = yield* tail.start({ sourceId, channel }, start)
          return writeCursor(key, { sourceId, channel }, place)
        }),
        page: Effect.fnUntraced(function* (params, scope = null) {
          const key = yield* keys.key
          const { sourceId, channel, limit, after, cursor, resets } = yield* feedParams(key, params)
          const isMissing =
            sourceId === "unknown" ||
            (sourceId !== null && (!mayReadSource(scope, sourceId) || Option.isNone(yield* sources.get(sourceId))))
          if (isMissing) {
            const message = ERROR_MEANINGS.no_such_source
            return yield* new FeedError({ code: "no_such_source", message, param: "source_id" })
          }
          const query = { after, limit, sourceId, channel }
          const scoped = scope === null ? query : { ...query, sources: [...scope.sources] }
          const page = yield* instrument("feed.page", store.page(scoped))
          const written = (position: FeedPosition) => writeCursor(key, { sourceId, channel }, position, resets)
          return {
            items: page.items,
            hasMore: page.hasMore,
            // A client with nothing new to read usually gets back the cursor that it sent.
            nextCursor: cursor !== undefined && page.next === after ? cursor : written(page.next),
            cursors: () => Array.from({ length: page.items.length }, (_, index) => written(page.behind(index))),
          }
        }),
      })
    }),
  )
}
