/**
 * Reads the feed as it grows: waits for the next page that is not empty. A waiting reader holds no session of the
 * database, and readers waiting at the same place share one read of the page.
 */
import { Clock, Context, Effect, type Latch, Layer } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { ReadScopeOrAll } from "../key/ReadScope.ts"
import { CursorKeys } from "../pagination/CursorKey.ts"
import { monotonicMillis } from "../runtime/Deadline.ts"
import { sharedWork } from "../runtime/SharedWork.ts"
import { Feed, type FeedResult } from "./Feed.ts"
import type { FeedError } from "./FeedError.ts"
import { FeedFollower, type Wakes } from "./FeedFollower.ts"
import { feedParams } from "./FeedParams.ts"
import { comparePlaces } from "./FeedTrail.ts"

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

/** How long to wait, and when to stop. */
export interface FollowOptions<E = never> {
  readonly waitMillis: number
  readonly scope?: ReadScopeOrAll
  /** The reader's current scope, checked again before each page but the first, and before a page is returned. */
  readonly again?: Effect.Effect<ReadScopeOrAll, E>
  /** When open, no reader waits any longer. */
  readonly leave?: Latch.Latch
}

/** The next page of a followed feed. */
export interface Followed {
  /** Empty if nothing came in time. */
  readonly page: FeedResult
  readonly waitedMillis: number
}

/** A wait of this length goes unnoticed by proxies. */
export const USUAL_WAIT_MILLIS = 25_000

export class FollowFeed extends Context.Service<
  FollowFeed,
  {
    /** The parameters are those of `Feed`. */
    readonly next: <E = never>(
      params: Pairs,
      options: FollowOptions<E>,
    ) => Effect.Effect<Followed, FeedError | StoreUnavailable | E>
  }
>()("@data-cabinet/core/feed/FollowFeed") {
  static readonly layer = Layer.effect(
    FollowFeed,
    Effect.gen(function* () {
      const feed = yield* Feed
      const follower = yield* FeedFollower
      const keys = yield* CursorKeys
      const clock = yield* Clock.Clock
      const share = yield* sharedWork<FeedResult, FeedError | StoreUnavailable>()
      const now = () => monotonicMillis(clock)
      const pageOf = (params: Pairs, scope: ReadScopeOrAll) =>
        share(JSON.stringify([params, scope === null ? null : [...scope.sources]]), feed.page(params, scope))

      /** Whether it was woken in time. */
      const woken = (wakes: Wakes, millis: number, leave: Latch.Latch | undefined) => {
        const waited = leave === undefined ? wakes.next : Effect.raceFirst(wakes.next, leave.await)
        return Effect.map(
          Effect.timeoutOption(waited, Math.max(0, millis)),
          ({ _tag }) => _tag === "Some" && leave?.isOpen() !== true,
        )
      }

      return FollowFeed.of({
        next: Effect.fnUntraced(function* (params, { waitMillis, scope = null, again, leave }) {
          const { sourceId, channel, after } = yield* feedParams(yield* keys.key, params)
          if (waitMillis <= 0 || sourceId === "unknown") return { page: yield* pageOf(params, scope), waitedMillis: 0 }
          const sources = scope === null ? null : scope.sources
          const wakes = yield* follower.wakes({ sourceId, channel, sources }, after)
          // Nothing follows the end; a source may have been deleted.
          const isAtEnd = sourceId === null && comparePlaces(wakes.end, after) === 0
          let pageParams = params
          let page = isAtEnd ? null : yield* pageOf(pageParams, scope)
          let waitedMillis = 0
          for (let isOver = false; !isOver && !hasAny(page);) {
            if (page !== null) pageParams = behind(params, page.nextCursor)
            const since = now()
            isOver = !(yield* woken(wakes, waitMillis - waitedMillis, leave))
            waitedMillis += now() - since
            page = yield* pageOf(pageParams, again === undefined ? scope : yield* again)
          }
          // A key that was revoked before an event came must not show it: the page may be later than the check before it.
          if (again !== undefined && hasAny(page)) yield* again
          return { page: page!, waitedMillis }
        }, Effect.scoped),
      })
    }),
  )
}

const hasAny = (page: FeedResult | null): boolean => page !== null && (page.items.length > 0 || page.hasMore)

/** The parameters with a later cursor. */
export const behind = (params: Pairs, cursor: string): Pairs => [
  ...params.filter(([name]) => name !== "cursor"),
  ["cursor", cursor],
]
