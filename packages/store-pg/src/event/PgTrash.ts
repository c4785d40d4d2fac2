/** Trash and purge in PostgreSQL. The row of a restored event is written from the event again, like a deferred row. */
import { MAX_TRASH_EVENTS, Trash, TrashError } from "@data-cabinet/core/event/Trash"
import { quoteQualified } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { int8Array } from "../connection/ArrayParameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { SOURCES_SCHEMA } from "../row/SourceTable.ts"
import { drainDeferredRows } from "../row/DeferredRows.ts"
import {
  ERASE_RESPONSE_BODIES,
  ERASE_EVENTS,
  ERASE_REPEAT_WINDOWS,
  ERASE_ORIGINALS,
  FIND_EVENTS,
  FIND_WITH_REPEATS,
  DELETE_DEFERRED_ROWS,
  LOCK_SOURCES,
  QUEUE_ROWS,
  SET_DELETED,
  SET_UNDELETED,
} from "./TrashStatement.ts"

interface Found {
  readonly id: string
  readonly source_id: string
  readonly table_name: string | null
}

export const layer = Layer.effect(
  Trash,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient

    const checkCount = (events: ReadonlyArray<number>) =>
      events.length > MAX_TRASH_EVENTS
        ? Effect.fail(
            new TrashError({
              code: "too_many_events",
              message: `At most ${MAX_TRASH_EVENTS} events at a time; there were ${events.length}.`,
            }),
          )
        : Effect.void

    /** Finds the given events of a source, without duplicates; fails the whole call if one does not exist. */
    const find = Effect.fnUntraced(function* (sourceId: number, events: ReadonlyArray<number>) {
      yield* checkCount(events)
      const wanted = [...new Set(events)]
      const found = yield* sql.unsafe<Found>(FIND_EVENTS, [int8Array(wanted), sourceId])
      if (found.length < wanted.length) {
        const there = new Set(found.map((row) => Number(row.id)))
        const strangers = wanted.filter((id) => !there.has(id))
        return yield* new TrashError({
          code: "no_such_event",
          message: `Source ${sourceId} has no event ${strangers.slice(0, 5).join(", ")}${strangers.length > 5 ? ", …" : ""}.`,
        })
      }
      return found
    })

    const deleteRows = Effect.fnUntraced(function* (found: ReadonlyArray<Found>) {
      yield* sql.unsafe(LOCK_SOURCES, [int8Array([...new Set(found.map((row) => BigInt(row.source_id)))])])
      const ids = int8Array(found.map((row) => BigInt(row.id)))
      for (const [table] of Map.groupBy(found, (row) => row.table_name)) {
        if (table === null) continue
        yield* sql.unsafe(`DELETE FROM ${quoteQualified(SOURCES_SCHEMA, table)} WHERE _event_id = ANY ($1::int8[])`, [
          ids,
        ])
      }
      yield* sql.unsafe(DELETE_DEFERRED_ROWS, [ids])
      return ids
    })

    return Trash.of({
      trash: (sourceId, events) =>
        sql
          .withTransaction(
            Effect.gen(function* () {
              const ids = yield* deleteRows(yield* find(sourceId, events))
              return (yield* sql.unsafe(SET_DELETED, [ids])).length
            }),
          )
          .pipe(orUnavailable),
      untrash: (sourceId, events) =>
        sql
          .withTransaction(
            Effect.gen(function* () {
              const found = yield* find(sourceId, events)
              const back = yield* sql.unsafe<{ id: string }>(SET_UNDELETED, [
                int8Array(found.map((row) => BigInt(row.id))),
              ])
              yield* sql.unsafe(QUEUE_ROWS, [int8Array(back.map((row) => BigInt(row.id))), sourceId])
              return back.length
            }),
          )
          .pipe(
            Effect.tap(() => Effect.provideService(drainDeferredRows, PgClient.PgClient, sql)),
            orUnavailable,
          ),
      purge: (events) =>
        sql
          .withTransaction(
            Effect.gen(function* () {
              yield* checkCount(events)
              const found = yield* sql.unsafe<Found>(FIND_WITH_REPEATS, [int8Array([...new Set(events)])])
              const there = new Set(found.map((row) => Number(row.id)))
              const stranger = events.find((id) => !there.has(id))
              if (stranger !== undefined) {
                return yield* new TrashError({ code: "no_such_event", message: `There is no event ${stranger}.` })
              }
              const ids = yield* deleteRows(found)
              for (const statement of [ERASE_ORIGINALS, ERASE_REPEAT_WINDOWS]) yield* sql.unsafe(statement, [ids])
              const erased = yield* sql.unsafe(ERASE_EVENTS, [ids])
              // Last, because attempts in flight were cancelled with the event: from here on no response body is stored.
              yield* sql.unsafe(ERASE_RESPONSE_BODIES, [ids])
              return erased.length
            }),
          )
          .pipe(orUnavailable),
    })
  }),
)
