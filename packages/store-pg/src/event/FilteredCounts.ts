/**
 * Counts how many events the filter of each address excluded. The counts are kept in the process and written a few
 * seconds later, because a row changed by every accept would make accepts wait for one another. A killed process loses
 * unwritten counts; whether an event was sent is recorded by its delivery.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Metric } from "effect"
import type { SqlError } from "effect/sql"
import { int8Array } from "../connection/Parameter.ts"
import type { AcceptedRow } from "./AcceptStatement.ts"
import type { PendingBatch } from "./PendingRequests.ts"

const total = Metric.counter("delivery_filtered_total", {
  description: "Deliveries that were not made because the event does not pass the filter of the address.",
  incremental: true,
})

/** $1: addresses, $2: how many more. */
const WRITE = `
  INSERT INTO cabinet.filtered_events AS f (address_id, events)
  SELECT n.address_id, n.events FROM unnest($1::int8[], $2::int8[]) AS n (address_id, events) ORDER BY n.address_id
  ON CONFLICT (address_id) DO UPDATE SET events = f.events + excluded.events`

export class FilteredCounts {
  /** By address; each batch adds, and a write subtracts. */
  readonly #counts = new Map<number, number>()

  /** Counts the deliveries that filters prevented in an accepted batch. */
  count(batch: PendingBatch, rows: ReadonlyArray<AcceptedRow>): Effect.Effect<void> {
    let filtered = 0
    for (const { addresses, passed } of deliverable(batch, rows)) {
      const excluded = addresses.length - passed.length
      if (excluded === 0) continue
      const passing = new Set(passed)
      for (const id of addresses) if (!passing.has(id)) this.#add(id, 1)
      filtered += excluded
    }
    return Metric.update(total, filtered)
  }

  write(sql: PgClient.PgClient): Effect.Effect<void, SqlError.SqlError> {
    return Effect.suspend(() => {
      const counts = [...this.#counts].filter(([, events]) => events > 0)
      if (counts.length === 0) return Effect.void
      const written = sql.unsafe(WRITE, [
        int8Array(counts.map(([id]) => id)),
        int8Array(counts.map(([, events]) => events)),
      ])
      return Effect.map(written, () => {
        for (const [id, events] of counts) this.#add(id, -events)
      })
    })
  }

  #add(id: number, events: number): void {
    const count = (this.#counts.get(id) ?? 0) + events
    if (count === 0) this.#counts.delete(id)
    else this.#counts.set(id, count)
  }
}

/** The events of a batch that would be delivered without filters. */
const deliverable = function* (batch: PendingBatch, rows: ReadonlyArray<AcceptedRow>) {
  let n = 0
  let at = 0
  for (const { request } of batch) {
    for (const [index, event] of request.events.entries()) {
      n++
      const row = rows[at]
      if (row?.n !== n) continue
      at++
      if (request.filtered === undefined || row.repeat_of !== null || event.empty || request.history) continue
      if (event.spam !== undefined) continue
      if (request.verdict !== undefined && request.verdict.refusal !== null) continue
      yield { addresses: request.filtered.addresses, passed: request.filtered.passed[index]! }
    }
  }
}
