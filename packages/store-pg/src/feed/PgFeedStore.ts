/**
 * The feed's pages. Two statements, one after the other: first how far may be shown, then, in a later snapshot, what
 * stands there.
 */
import { FeedStore, type FeedPosition, type FeedQuery } from "@data-cabinet/core/feed/FeedStore"
import { StatementClient } from "../connection/OwnerClient.ts"
import { Effect, Layer } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { FENCE_BOUND } from "./Fence.ts"

/** A page ends early once its items hold this many bytes: fewer than `limit`, and more to come. */
const PAGE_BYTES = 8 * 1024 * 1024

/**
 * One page: the filter's columns come first in an index each, and `ORDER BY` names the table's columns, for an output
 * name would sort a number by its text. Lengths are summed so that a page of large events ends early in the database.
 */
const pageStatement = (query: FeedQuery, epoch: number, bound: string) => {
  const values: Array<unknown> = [query.after.epoch, query.after.xid, query.after.id, epoch, bound, query.limit + 1]
  const filters: Array<string> = []
  if (query.sourceId !== null) filters.push(`AND e.source_id = $${values.push(query.sourceId)}::int8`)
  if (query.channel !== null) filters.push(`AND e.channel = $${values.push(query.channel)}`)
  return {
    text: `
SELECT p.epoch, p.xid::text AS xid, p.id::text AS id,
       CASE WHEN p.before < ${PAGE_BYTES} THEN cabinet.event_json(p.event, s.name) END AS item
FROM (
  SELECT e.epoch, e.xid, e.id, e.source_id, e.event,
         coalesce(sum(octet_length((e.event).payload::text))
           OVER (ORDER BY e.epoch, e.xid, e.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
  FROM (
    SELECT e.epoch, e.xid, e.id, e.source_id, e AS event FROM cabinet.event e
    WHERE (e.epoch, e.xid, e.id) > ($1::int4, $2::int8, $3::int8) AND (e.epoch, e.xid) < ($4::int4, $5::int8)
      ${filters.join(" ")}
    ORDER BY e.epoch, e.xid, e.id LIMIT $6
  ) e
) p JOIN cabinet.source s ON s.id = p.source_id
WHERE p.before < ${PAGE_BYTES} OR p.before IS NULL
ORDER BY p.epoch, p.xid, p.id`,
    values,
  }
}

export const layer = Layer.effect(
  FeedStore,
  Effect.gen(function* () {
    const sql = yield* StatementClient
    return FeedStore.of({
      page: Effect.fnUntraced(function* (query) {
        const [fence] = yield* sql.unsafe<{ epoch: number; bound: string }>(FENCE_BOUND)
        const statement = pageStatement(query, fence!.epoch, fence!.bound)
        const rows = yield* sql.unsafe<{ epoch: number; xid: string; id: string; item: string }>(
          statement.text,
          statement.values,
        )
        const shown = rows.slice(0, query.limit)
        const last = shown.at(-1)
        const next: FeedPosition =
          last === undefined ? query.after : { epoch: last.epoch, xid: BigInt(last.xid), id: Number(last.id) }
        // A page cut short by its size is full too: the statement left out what came after, and counted bytes.
        const size = shown.reduce((sum, row) => sum + Buffer.byteLength(row.item), 0)
        return {
          items: shown.map((row) => row.item),
          next,
          hasMore: rows.length > query.limit || size >= PAGE_BYTES,
        }
      }, orUnavailable),
    })
  }),
)
