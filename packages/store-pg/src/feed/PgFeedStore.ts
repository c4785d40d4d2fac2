/**
 * The feed's pages. Two statements, one after the other: first how far may be shown, then, in a later snapshot, what
 * stands there.
 */
import { FeedStore, type FeedPage, type FeedQuery } from "@data-cabinet/core/feed/FeedStore"
import { joined } from "@data-cabinet/core/page/Items"
import { Effect, Layer } from "effect"
import { StatementClient } from "../connection/OwnerClient.ts"
import { orUnavailable, unavailable } from "../connection/StoreFailure.ts"
import { FENCE_BOUND } from "./Fence.ts"
import { type PageRow, pageStatement } from "./PageStatement.ts"

export const layer = Layer.effect(
  FeedStore,
  Effect.gen(function* () {
    const sql = yield* StatementClient
    const read = Effect.fnUntraced(function* (query: FeedQuery, epoch: string, bound: string, hasty: boolean) {
      const { text, values } = pageStatement(query, epoch, bound, hasty)
      const rows = (yield* sql.values(text, values)) as unknown as Array<PageRow>
      // The join that brings the sources' names need not keep the order. To find it kept costs next to nothing.
      return rows.sort(byPlace)
    })
    return FeedStore.of({
      page: Effect.fnUntraced(function* (query) {
        const [fence] = yield* sql.unsafe<{ standby: boolean; epoch: string; bound: string }>(FENCE_BOUND)
        if (fence!.standby) {
          return yield* unavailable(
            "This database is a standby, which cannot tell what its primary is about to commit.",
          )
        }
        const rows = yield* read(query, fence!.epoch, fence!.bound, true)
        return rows.every((row) => row[0] !== null)
          ? pageOf(query, rows)
          : pageOf(query, yield* read(query, fence!.epoch, fence!.bound, false))
      }, orUnavailable),
    })
  }),
)

const byPlace = (a: PageRow, b: PageRow): number => order(a[1], b[1]) || order(a[2], b[2]) || order(a[3], b[3])

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

const pageOf = ({ after, limit }: FeedQuery, rows: ReadonlyArray<PageRow>): FeedPage => {
  const items: Array<Uint8Array> = []
  for (const row of rows) {
    if (row[0] === null || items.length === limit) break
    items.push(row[0])
  }
  const last = rows[items.length - 1]
  const next = last === undefined ? after : { epoch: Number(last[1]), xid: last[2], id: Number(last[3]) }
  return { items: joined(items), next, hasMore: rows.length > items.length }
}
