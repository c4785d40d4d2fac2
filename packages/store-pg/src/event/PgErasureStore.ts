/** Reads events for an erasure on request, in the order of their numbers. */
import { type ErasureCounts, ErasureStore } from "@data-cabinet/core/event/ErasureStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { COUNT_ERASABLE, ERASURE_RANGE, LAST_EVENT, MAX_ERASABLE_EVENTS, READ_ERASABLE } from "./ErasureStatement.ts"

interface ErasableRow {
  readonly id: number
  readonly payload: string
  readonly firstPayload: string | null
  readonly found: number
}

export const layer = Layer.effect(
  ErasureStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return ErasureStore.of({
      read: Effect.fnUntraced(function* (after, sourceId) {
        const events = yield* sql.unsafe<ErasableRow>(READ_ERASABLE, [after, sourceId])
        const found = events[0]?.found ?? 0
        const isCut = events.length < found || found === MAX_ERASABLE_EVENTS
        if (isCut) return { events, next: events.at(-1)!.id }
        const [last] = yield* sql.unsafe<{ id: number }>(LAST_EVENT)
        return { events, next: after + ERASURE_RANGE < last!.id ? after + ERASURE_RANGE : null }
      }, orUnavailable),
      count: (events) =>
        orUnavailable(
          Effect.map(sql.unsafe<ErasureCounts>(COUNT_ERASABLE, [int8Array(events)]), ([counts]) => counts!),
        ),
    })
  }),
)
