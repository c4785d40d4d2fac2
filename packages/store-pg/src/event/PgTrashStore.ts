/** Trash and purge in PostgreSQL. The row of a restored event is written again from the event, like a deferred row. */
import { TrashStore } from "@data-cabinet/core/event/TrashStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { ColdActs } from "../cold/ColdActs.ts"
import { int8Array } from "../connection/Parameter.ts"
import { deliverStored } from "../delivery/DeliverStored.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { drainDeferredRows } from "../row/DeferredRows.ts"
import { deleteRows, type Found, moveToTrash } from "./MoveToTrash.ts"
import {
  ERASE_RESPONSE_BODIES,
  ERASE_EVENTS,
  ERASE_REPEAT_WINDOWS,
  ERASE_ORIGINALS,
  FIND_EVENTS,
  FIND_WITH_REPEATS,
  QUEUE_ROWS,
  SET_ORDINARY,
  SET_UNDELETED,
  TAKE_FROM_TRASH,
} from "./TrashStatement.ts"

/** The wanted events that were not found. */
const missingFrom = (found: ReadonlyArray<Found>, wanted: ReadonlyArray<number>): ReadonlyArray<number> => {
  const there = new Set(found.map((row) => Number(row.id)))
  return wanted.filter((id) => !there.has(id))
}

/** Restores events from the trash; spam outside it becomes an ordinary event that was never sent. */
const restore = Effect.fnUntraced(function* (sql: PgClient.PgClient, sourceId: number, found: ReadonlyArray<Found>) {
  const ids = int8Array(found.map((row) => BigInt(row.id)))
  const ordinary = yield* sql.unsafe<{ id: string }>(SET_ORDINARY, [ids])
  const back = yield* sql.unsafe<{ id: string }>(SET_UNDELETED, [ids])
  yield* sql.unsafe(TAKE_FROM_TRASH, [ids])
  yield* sql.unsafe(QUEUE_ROWS, [int8Array([...back, ...ordinary].map((row) => BigInt(row.id))), sourceId])
  yield* deliverStored(
    sql,
    sourceId,
    ordinary.map(({ id }) => ({ id, was_sent: false })),
  )
  return back.length + ordinary.length
})

export const layer = Layer.effect(
  TrashStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cold = yield* ColdActs

    /** Changes what a statement finds and locks, unless one of the wanted events is missing. */
    const changing = (
      wanted: ReadonlyArray<number>,
      find: Effect.Effect<ReadonlyArray<Found>, SqlError.SqlError>,
      change: (found: ReadonlyArray<Found>) => Effect.Effect<number, SqlError.SqlError>,
    ) =>
      sql.withTransaction(
        Effect.gen(function* () {
          const found = yield* find
          const missing = missingFrom(found, wanted)
          return missing.length > 0 ? { changed: 0, missing } : { changed: yield* change(found), missing }
        }),
      )

    const ofSource = (sourceId: number, events: ReadonlyArray<number>) =>
      sql.unsafe<Found>(FIND_EVENTS, [int8Array(events), sourceId])

    return TrashStore.of({
      trash: (sourceId, events, by) =>
        cold
          .need(events)
          .pipe(
            Effect.andThen(changing(events, ofSource(sourceId, events), (found) => moveToTrash(sql, found, by))),
            orUnavailable,
          ),
      untrash: (sourceId, events) =>
        cold.need(events).pipe(
          Effect.andThen(changing(events, ofSource(sourceId, events), (found) => restore(sql, sourceId, found))),
          Effect.tap(({ changed }) =>
            changed > 0 ? Effect.provideService(drainDeferredRows, PgClient.PgClient, sql) : Effect.void,
          ),
          orUnavailable,
        ),
      purge: (events) =>
        Effect.andThen(
          cold.needWithRepeats(events),
          changing(
            events,
            sql.unsafe<Found>(FIND_WITH_REPEATS, [int8Array(events)]),
            Effect.fnUntraced(function* (found) {
              const ids = yield* deleteRows(sql, found)
              for (const statement of [ERASE_ORIGINALS, ERASE_REPEAT_WINDOWS]) yield* sql.unsafe(statement, [ids])
              const erased = yield* sql.unsafe(ERASE_EVENTS, [ids])
              yield* sql.unsafe(TAKE_FROM_TRASH, [ids])
              // Last, because attempts in flight were cancelled with the event: from here on no response body is stored.
              yield* sql.unsafe(ERASE_RESPONSE_BODIES, [ids])
              return erased.length
            }),
          ),
        ).pipe(orUnavailable),
    })
  }),
)
