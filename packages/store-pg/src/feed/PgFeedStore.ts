/**
 * The feed's pages. Two statements, one after the other: first how far may be shown, then, in a later snapshot, what
 * stands there.
 */
import { FeedStore, type FeedPage, type FeedQuery } from "@data-cabinet/core/feed/FeedStore"
import { byHidden, hiddenAt, type SentBytes } from "@data-cabinet/core/row/SentRow"
import { Effect, Layer } from "effect"
import { StatementClient } from "../connection/OwnerClient.ts"
import { orUnavailable, unavailable } from "../connection/StoreFailure.ts"
import { FENCE_BOUND } from "./Fence.ts"
import { EVENT, type PageRow, pageStatement } from "./PageStatement.ts"

export const layer = Layer.effect(
  FeedStore,
  Effect.gen(function* () {
    const sql = yield* StatementClient
    const read = Effect.fnUntraced(function* (query: FeedQuery, epoch: string, bound: string, hasty: boolean) {
      const { text, values } = pageStatement(query, epoch, bound, hasty)
      const rows = (yield* sql.values(text, values)) as unknown as ReadonlyArray<PageRow>
      const events: Array<SentBytes> = []
      for (const [event] of rows) if (event !== null) events.push(event)
      // The join that brings the sources' names need not keep the order. To find it kept costs next to nothing.
      return { events: events.sort(byPlace), found: rows.length }
    })
    return FeedStore.of({
      page: Effect.fnUntraced(function* (query) {
        const [fence] = yield* sql.unsafe<{ standby: boolean; epoch: string; bound: string }>(FENCE_BOUND)
        if (fence!.standby) {
          return yield* unavailable(
            "This database is a standby, which cannot tell what its primary is about to commit.",
          )
        }
        const all = yield* read(query, fence!.epoch, fence!.bound, true)
        return all.events.length === all.found
          ? pageOf(query, all)
          : pageOf(query, yield* read(query, fence!.epoch, fence!.bound, false))
      }, orUnavailable),
    })
  }),
)

const byPlace = byHidden(3)

/** What was found: of the events that fit the page those that are shown, in order. */
interface Found {
  readonly events: ReadonlyArray<SentBytes>
  readonly found: number
}

const pageOf = ({ after, limit }: FeedQuery, { events, found }: Found): FeedPage => {
  const shown = events.slice(0, limit)
  const last = shown.at(-1)
  const next =
    last === undefined
      ? after
      : { epoch: Number(hiddenAt(last, 0)), xid: hiddenAt(last, 1), id: Number(hiddenAt(last, 2)) }
  return { items: EVENT.items(shown), next, hasMore: found > shown.length }
}
