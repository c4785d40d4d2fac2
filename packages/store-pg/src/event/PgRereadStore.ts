/**
 * Rereadings in PostgreSQL. A transaction locks its events and then their sources, as the trash does, and changes event, original
 * and row together. A row that the database refuses is set aside, as it is when an event is accepted.
 */
import { otherReadingsJson, othersOf } from "@data-cabinet/core/event/OriginalShape"
import { type RereadDecision, type RereadEvent, RereadStore } from "@data-cabinet/core/intake/RereadStore"
import type { Reread } from "@data-cabinet/core/intake/RereadOriginal"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { ColdActs } from "../cold/ColdActs.ts"
import { int8Array, textArray } from "../connection/Parameter.ts"
import { isConflict, isUnavailable, orUnavailable } from "../connection/StoreFailure.ts"
import { deliverStored } from "../delivery/DeliverStored.ts"
import { countResent, queueResent } from "../delivery/ResendQueue.ts"
import { replaceRows, setRefusedAside, writeStoredRows } from "../row/StoredRows.ts"
import { missingEvent, originalSlice } from "./KeptOriginals.ts"
import * as RereadStatement from "./RereadStatement.ts"
import { LOCK_SOURCES } from "./TrashStatement.ts"

/** How long a change waits for a lock of an event, a source or a table, in milliseconds. */
const LOCK_TIMEOUT_MILLIS = 2_000

type Sql = PgClient.PgClient

const toEvent = (row: RereadStatement.RereadRow): RereadEvent => ({
  id: Number(row.id),
  inTrash: row.in_trash,
  payload: row.payload,
  schema: row.schema,
  original:
    row.body === null
      ? null
      : {
          body: row.body,
          bodyBytes: row.body_bytes,
          contentType: row.content_type,
          query: row.query,
          charset: row.charset,
          charsetFrom: row.charset_from,
          ...othersOf(row.other_readings),
        },
})

interface Changed {
  readonly id: string
  readonly sourceId: number
  readonly read: Reread
}

/** In the order of the events. */
const decided = Effect.fnUntraced(function* (rows: ReadonlyArray<RereadStatement.RereadRow>, decide: RereadDecision) {
  const changed: Array<Changed> = []
  for (const row of rows) {
    const read = decide(toEvent(row))
    if (read !== null) changed.push({ id: row.id, sourceId: Number(row.source_id), read })
    // A body has up to 64 KB, so other work runs in between.
    yield* Effect.yieldNow
  }
  return changed
})

const store = Effect.fnUntraced(function* (sql: Sql, changed: ReadonlyArray<Changed>) {
  const ids = int8Array(changed.map(({ id }) => BigInt(id)))
  yield* sql.unsafe(RereadStatement.SET_PAYLOADS, [ids, textArray(changed.map(({ read }) => read.text))])
  yield* sql.unsafe(RereadStatement.SET_READINGS, [
    ids,
    textArray(changed.map(({ read }) => read.charset)),
    textArray(changed.map(({ read }) => read.charsetFrom)),
    int8Array(changed.map(({ read }) => read.replaced)),
    textArray(
      changed.map(({ read: { others } }) => (others.length === 0 ? null : JSON.stringify(otherReadingsJson(others)))),
    ),
  ])
})

/** Corrects the rows of one source's events. If the database refuses one, the others are still written. */
const correctRows = Effect.fnUntraced(function* (
  sql: Sql,
  sourceId: number,
  changed: ReadonlyArray<Changed>,
): Effect.fn.Return<void, SqlError.SqlError> {
  const rows = changed.map(({ id, read }) => ({ id, payload: read.text }))
  const refusal = yield* refusalOf(sql.withTransaction(writeStoredRows(sql, sourceId, rows, replaceRows)))
  if (refusal === null) return
  for (const row of rows) {
    const fault = yield* refusalOf(sql.withTransaction(writeStoredRows(sql, sourceId, [row], replaceRows)))
    if (fault !== null) yield* setRefusedAside(sql, sourceId, row, fault, replaceRows)
  }
})

/** The error with which the database refuses the rows; null if it accepts them. Fails for errors that are not about the rows. */
const refusalOf = <A>(work: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<unknown, SqlError.SqlError> =>
  Effect.matchEffect(work, {
    onSuccess: () => Effect.succeed(null),
    onFailure: (error) => (isUnavailable(error) || isConflict(error) ? Effect.fail(error) : Effect.succeed(error)),
  })

/** `resent`: how many of their deliveries the follower makes due again. Returns how many deliveries become due. */
const deliverAgain = Effect.fnUntraced(function* (
  sql: Sql,
  sourceId: number,
  changed: ReadonlyArray<Changed>,
  resent: ReadonlyMap<number, number>,
) {
  const again = changed.map(({ id }) => Number(id)).filter((id) => resent.has(id))
  if (again.length > 0) yield* queueResent(sql, again)
  const events = changed.map(({ id }) => ({ id, was_sent: false }))
  const made = yield* deliverStored(sql, sourceId, events, false)
  return again.reduce((sum, id) => sum + resent.get(id)!, made)
})

const change = Effect.fnUntraced(function* (
  sql: Sql,
  {
    events,
    originalDays,
    decide,
    resent,
  }: {
    readonly events: ReadonlyArray<number>
    readonly originalDays: number
    readonly decide: RereadDecision
    /** Null if nothing is to be delivered. */
    readonly resent: ReadonlyMap<number, number> | null
  },
) {
  yield* sql.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MILLIS}`)
  yield* sql.unsafe(RereadStatement.LOCK_EVENTS, [int8Array(events)])
  const found = yield* sql.unsafe<RereadStatement.RereadRow>(RereadStatement.FIND, [int8Array(events), originalDays])
  const changed = yield* decided(found, decide)
  if (changed.length === 0) return 0
  const bySource = [...Map.groupBy(changed, ({ sourceId }) => sourceId)].sort(([a], [b]) => a - b)
  yield* sql.unsafe(LOCK_SOURCES, [int8Array(bySource.map(([sourceId]) => sourceId))])
  yield* store(sql, changed)
  let deliveries = 0
  for (const [sourceId, its] of bySource) {
    yield* correctRows(sql, sourceId, its)
    if (resent !== null) deliveries += yield* deliverAgain(sql, sourceId, its, resent)
  }
  return deliveries
})

export interface RereadStoreOptions {
  /** For how many days original requests are kept. */
  readonly originalDays: number
}

export const layer = ({ originalDays }: RereadStoreOptions) =>
  Layer.effect(
    RereadStore,
    Effect.map(Effect.all([PgClient.PgClient, ColdActs]), ([sql, cold]) =>
      RereadStore.of({
        missing: (events) => Effect.andThen(orUnavailable(cold.need(events)), missingEvent(sql, events)),
        find: (events) =>
          sql.unsafe<RereadStatement.RereadRow>(RereadStatement.FIND, [int8Array(events), originalDays]).pipe(
            Effect.map((rows) => rows.map(toEvent)),
            orUnavailable,
          ),
        slice: (query) => originalSlice(sql, RereadStatement.SLICE, query, originalDays),
        countResent: (events) => orUnavailable(countResent(sql, events)),
        // Counted before anything is locked: one event may have a hundred thousand deliveries.
        change: (events, decide, deliver) =>
          Effect.flatMap(deliver ? countResent(sql, events) : Effect.succeed(null), (resent) =>
            sql.withTransaction(change(sql, { events, originalDays, decide, resent })),
          ).pipe(orUnavailable),
      }),
    ),
  )
