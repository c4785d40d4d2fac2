/**
 * A feed in memory behind both of its stores: the page after a position, the events at the end, and how many there are.
 */
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { Channel } from "@data-cabinet/core/event/EventLog"
import { Feed } from "@data-cabinet/core/feed/Feed"
import { FeedFollower } from "@data-cabinet/core/feed/FeedFollower"
import { advance } from "@data-cabinet/core/feed/FeedPosition"
import { FeedSignal } from "@data-cabinet/core/feed/FeedSignal"
import { FEED_START, type FeedPlace, type FeedQuery, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { type Arrived, type CountBetween, FeedTailStore } from "@data-cabinet/core/feed/FeedTailStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import { FollowFeed } from "@data-cabinet/core/feed/FollowFeed"
import { CursorKey, CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { Items } from "@data-cabinet/core/pagination/Items"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Layer, Option } from "effect"

export interface FeedEvent {
  readonly place: FeedPlace
  readonly sourceId: number
  readonly channel: Channel
  readonly hasRow: boolean
}

export const KEY = new CursorKey(Buffer.alloc(32, 7))

type Filter = Pick<FeedQuery, "sourceId" | "channel" | "sources">

/** An id that no source can have must never reach the database. */
const known = (id: unknown): boolean => {
  if (typeof id !== "number") throw new Error(`${String(id)} is no id.`)
  return id <= 3
}

const isOf = ({ sourceId, channel, sources }: Filter, event: FeedEvent): boolean =>
  (sourceId === null || known(sourceId)) &&
  (sourceId === null || sourceId === event.sourceId) &&
  (channel === null || channel === event.channel) &&
  (sources === undefined || sources.includes(event.sourceId))

const away = new StoreUnavailable({ message: "away", retryAfter: 1, outcomeUnknown: false })

export class FeedInMemory {
  events: Array<FeedEvent> = []
  isUnavailable = false
  /** How often a page was read, and how often the end of the feed. */
  pages = 0
  looks = 0
  #accepted = 0

  /** Accepts events as another process would: without a signal. */
  accept(sourceId: number, count = 1, channel: Channel = "webhook", hasRow = true): void {
    for (let n = 0; n < count; n++) {
      const id = ++this.#accepted
      this.events.push({ place: { epoch: 1, xid: BigInt(id), id, receivedAt: BigInt(id) }, sourceId, channel, hasRow })
    }
  }

  get end(): FeedPlace {
    return this.events.at(-1)?.place ?? FEED_START
  }

  behind(place: FeedPlace, filter: Filter = { sourceId: null, channel: null }): ReadonlyArray<FeedEvent> {
    return this.events.filter((event) => comparePlaces(event.place, place) > 0 && isOf(filter, event))
  }

  #has(place: FeedPlace): boolean {
    return place.epoch === 0 || this.events.some((event) => comparePlaces(event.place, place) === 0)
  }

  #told<A>(answer: () => A): Effect.Effect<A, StoreUnavailable> {
    return Effect.suspend(() => (this.isUnavailable ? Effect.fail(away) : Effect.sync(answer)))
  }

  readonly #store = FeedStore.of({
    page: (query) =>
      this.#told(() => {
        this.pages++
        const { after, limit } = query
        const found = this.behind(after, query)
        const shown = found.slice(0, limit)
        const text = shown.map(({ place, sourceId }) => JSON.stringify({ id: place.id, source_id: sourceId }))
        const ends: Array<number> = []
        for (const one of text) ends.push((ends.at(-1) ?? -1) + 1 + one.length)
        const behind = (count: number) => advance(after, count, (index) => shown[index]!.place)
        return {
          items: new Items(Buffer.from(text.join()), 0, ends),
          next: behind(shown.length),
          behind: (index: number) => behind(index + 1),
          hasMore: found.length > shown.length,
        }
      }),
  })

  readonly #tail = FeedTailStore.of({
    end: this.#told(() => (this.looks++, this.end)),
    start: (filter, start) =>
      this.#told(() => {
        const own = this.events.filter((event) => isOf(filter, event))
        const last = typeof start === "object" && "last" in start ? own.at(-1 - start.last) : own.at(-1)
        return last?.place ?? FEED_START
      }),
    arrivals: (after, limit) =>
      this.#told(() => {
        this.looks++
        if (!this.#has(after)) return { arrived: [], end: this.end, hasMore: false, isSetBack: true as const }
        const found = this.behind(after)
        const came = found.slice(0, limit)
        const arrived = came.map(({ sourceId, channel, hasRow }): Arrived => ({
          sourceId,
          channel,
          events: 1,
          rows: hasRow ? 1 : 0,
        }))
        return { arrived, end: came.at(-1)?.place ?? after, hasMore: found.length > came.length }
      }),
    count: (between) => this.#told(() => this.#count(between)),
  })

  #count({ after, until, limit, ...filter }: CountBetween) {
    if (!this.#has(after)) return null
    const found = this.behind(after, filter)
      .filter(({ place }) => comparePlaces(place, until) <= 0)
      .slice(0, limit)
    return { events: found.length, rows: found.filter(({ hasRow }) => hasRow).length }
  }

  /** Everything that reads this feed, with sources 1, 2 and 3. */
  get layer() {
    const sources = {
      get: (id: number) => Effect.sync(() => (known(id) ? Option.some({ id }) : Option.none())),
    } as never
    return FollowFeed.layer.pipe(
      Layer.provideMerge(Layer.mergeAll(Feed.layer, FeedFollower.layer)),
      Layer.provideMerge(
        Layer.mergeAll(
          FeedSignal.layer,
          Layer.succeed(FeedStore, this.#store),
          Layer.succeed(FeedTailStore, this.#tail),
          Layer.succeed(CursorKeys, { key: Effect.succeed(KEY) }),
          Layer.succeed(Sources, sources),
        ),
      ),
    )
  }
}
