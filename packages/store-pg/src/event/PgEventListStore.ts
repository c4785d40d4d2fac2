/** The list of events in PostgreSQL. */
import { type DeliveryCounts, EventListStore, type ListedEvent } from "@data-cabinet/core/event/EventListStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { foldCollation } from "../row/FoldCollation.ts"
import { DELIVERY_COUNTS, type SliceRow, sliceStatement } from "./EventListStatement.ts"

type CountsRow = DeliveryCounts & { readonly id: number }

const NONE: DeliveryCounts = { due: 0, delivered: 0, failed: 0, cancelled: 0 }

const toListed = (row: SliceRow, event: string, counts: ReadonlyMap<number, CountsRow>): ListedEvent => {
  const { due, delivered, failed, cancelled } = counts.get(row.id) ?? NONE
  return {
    event,
    state: row.state,
    spamReason: row.spam_reason,
    empty: row.empty,
    rowWaits: row.row_waits,
    trashedBy: row.actor_kind === null ? null : { kind: row.actor_kind, id: row.actor_id, name: row.actor_name ?? "" },
    deliveries: { due, delivered, failed, cancelled },
  }
}

export const layer = Layer.effect(
  EventListStore,
  Effect.map(PgClient.PgClient, (sql) => {
    const folding = foldCollation(sql)
    return EventListStore.of({
      slice: Effect.fnUntraced(function* ({ filter, after, limit, examine }) {
        const { text, values } = sliceStatement({ filter, after, limit, examine, foldCollation: yield* folding })
        const rows = yield* sql.unsafe<SliceRow>(text, values)
        const shown = rows.filter(({ event }) => event !== null)
        const counts = new Map<number, CountsRow>()
        if (shown.length > 0) {
          const ids = int8Array(shown.map(({ id }) => id))
          for (const row of yield* sql.unsafe<CountsRow>(DELIVERY_COUNTS, [ids])) counts.set(row.id, row)
        }
        const found = shown.map((row) => toListed(row, row.event!, counts))
        const last = rows.at(-1)
        if (last === undefined || filter.event !== null) return { found, next: null, reached: null }
        const reached = (row: SliceRow) => (filter.state === "trashed" ? row.place[0]! : row.received_at)
        // A matching event that is not shown did not fit: the next slice begins at the last one shown.
        const full = rows.some(({ matched, event }) => matched && event === null)
        const lastShown = shown.at(-1)
        if (full && lastShown !== undefined) return { found, next: lastShown.place, reached: reached(lastShown) }
        const ended = last.walked < examine && last.seen === last.walked
        return { found, next: last.past || ended ? null : last.place, reached: reached(last) }
      }, orUnavailable),
    })
  }),
)
