/**
 * The pages of the feed. Statements run one after the other: first the watermark, then, in a later snapshot, the events
 * below it, and the names of their sources.
 */
import { type FeedPlace, type FeedQuery, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { advance } from "@data-cabinet/core/feed/FeedPosition"
import { NO_ITEMS } from "@data-cabinet/core/pagination/Items"
import { Effect, Layer } from "effect"
import { int8Array } from "../connection/ArrayParameter.ts"
import { StatementClient } from "../connection/OwnerClient.ts"
import { orUnavailable, unavailable } from "../connection/StoreFailure.ts"
import { type EncodedEvent, eventsToJson, placeOf } from "./EventsToJson.ts"
import { WATERMARK } from "./Fence.ts"
import { type PageRow, pageStatement, SOURCE_NAMES } from "./PageStatement.ts"
import { beginEpochAbove, latestKnown, laterKnown } from "./SetBack.ts"

export const layer = Layer.effect(
  FeedStore,
  Effect.gen(function* () {
    const sql = yield* StatementClient
    const read = Effect.fnUntraced(function* (query: FeedQuery, epoch: string, bound: string, hasty: boolean) {
      const { text, values } = pageStatement(query, epoch, bound, hasty)
      return (yield* sql.values(text, values)) as unknown as ReadonlyArray<PageRow>
    })
    const fenceBound = Effect.fnUntraced(function* ({ epoch, xid, id, receivedAt = 0n }: FeedPlace) {
      const [fence] = yield* sql.unsafe<FenceRow>(WATERMARK, [epoch, xid, id, receivedAt])
      return fence!
    })
    const namesOf = Effect.fnUntraced(function* (events: ReadonlyArray<EncodedEvent>) {
      const ids = [...new Set(events.map((event) => event[4]))]
      return new Map((yield* sql.values(SOURCE_NAMES, [int8Array(ids)])) as ReadonlyArray<[id: number, name: string]>)
    })
    return FeedStore.of({
      page: Effect.fnUntraced(function* (asked) {
        let fence = yield* fenceBound(asked.after)
        if (fence.standby) {
          return yield* unavailable(
            "This database is a standby, which cannot tell what its primary is about to commit.",
          )
        }
        if (!fence.there && asked.after.epoch >= Number(fence.epoch)) {
          yield* beginEpochAbove(sql, asked.after)
          fence = yield* fenceBound(asked.after)
        }
        const after = yield* fence.there ? laterKnown(sql, asked.after) : latestKnown(sql, asked.after)
        const query = after === asked.after ? asked : { ...asked, after }
        const hasty = yield* read(query, fence.epoch, fence.bound, true)
        const found = hasty.every(isShown) ? hasty : yield* read(query, fence.epoch, fence.bound, false)
        const events = whileShown(found.slice(0, query.limit))
        if (events.length === 0) return { items: NO_ITEMS, next: query.after, hasMore: found.length > 0 }
        return {
          items: eventsToJson(events, yield* namesOf(events)),
          next: advance(query.after, events.length, (index) => placeOf(events[index]!)),
          hasMore: found.length > events.length,
        }
      }, orUnavailable),
    })
  }),
)

interface FenceRow {
  readonly standby: boolean
  readonly epoch: string
  readonly bound: string
  readonly there: boolean
}

const isShown = (row: PageRow): row is EncodedEvent => row[0] !== null

const whileShown = (rows: ReadonlyArray<PageRow>): ReadonlyArray<EncodedEvent> => {
  const end = rows.findIndex((row) => !isShown(row))
  return (end < 0 ? rows : rows.slice(0, end)).filter(isShown)
}
