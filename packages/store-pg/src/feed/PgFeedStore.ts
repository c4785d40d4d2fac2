/**
 * The feed's pages. Two statements, one after the other: first how far may be shown, then, in a later snapshot, what
 * stands there.
 */
import { FeedStore, type FeedPosition } from "@data-cabinet/core/feed/FeedStore"
import { StatementClient } from "../connection/OwnerClient.ts"
import { Effect, Layer } from "effect"
import { orUnavailable, unavailable } from "../connection/StoreFailure.ts"
import { FENCE_BOUND } from "./Fence.ts"
import { pageStatement } from "./PageStatement.ts"

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
        const rows = yield* sql.unsafe<{ epoch: string; xid: string; id: string; item: string; found: number }>(
          text,
          values,
        )
        const last = rows.at(-1)
        const next: FeedPosition =
          last === undefined ? query.after : { epoch: Number(last.epoch), xid: BigInt(last.xid), id: Number(last.id) }
        return { items: rows.map((row) => row.item), next, hasMore: (last?.found ?? 0) > rows.length }
      }, orUnavailable),
    })
  }),
)
