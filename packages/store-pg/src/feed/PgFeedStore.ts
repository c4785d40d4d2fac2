/**
 * The feed's pages. Two statements, one after the other: first how far may be shown, then, in a later snapshot, what
 * stands there.
 */
import { FeedStore, type FeedPosition } from "@data-cabinet/core/feed/FeedStore"
import { StatementClient } from "../connection/OwnerClient.ts"
import { Effect, Layer } from "effect"
import { orUnavailable, unavailable } from "../connection/StoreFailure.ts"
import { FENCE_BOUND } from "./Fence.ts"
import { ITEM_END, type PageRow, pageStatement } from "./PageStatement.ts"

export const layer = Layer.effect(
  FeedStore,
  Effect.gen(function* () {
    const sql = yield* StatementClient
    return FeedStore.of({
      page: Effect.fnUntraced(function* (query) {
        const [fence] = yield* sql.unsafe<{ standby: boolean; epoch: string; bound: string }>(FENCE_BOUND)
        if (fence!.standby) {
          return yield* unavailable(
            "This database is a standby, which cannot tell what its primary is about to commit.",
          )
        }
        const { text, values } = pageStatement(query, fence!.epoch, fence!.bound)
        const [page] = yield* sql.unsafe<PageRow>(text, values)
        const { items, epoch, xid, id, more } = page!
        if (items === null) return { items: [], next: query.after, hasMore: false }
        const next: FeedPosition = { epoch: Number(epoch), xid: BigInt(xid!), id: Number(id) }
        return { items: items.split(ITEM_END), next, hasMore: more }
      }, orUnavailable),
    })
  }),
)
