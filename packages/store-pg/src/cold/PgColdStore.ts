/** Cold history in PostgreSQL. */
import type { ColdEvent } from "@data-cabinet/core/cold/ColdFiles"
import {
  type ColdLimits,
  type ColdProgress,
  ColdStore,
  type ListedFile,
  type RowHash,
  type WrittenFile,
} from "@data-cabinet/core/cold/ColdStore"
import { FEED_START, type FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { WATERMARK } from "../feed/Fence.ts"
import { type EventRow, INSERT_EVENTS, insertValues, toCold } from "./ColdColumns.ts"
import * as Statement from "./ColdStatement.ts"

type Sql = PgClient.PgClient

export const toListed = (row: Statement.FileRow): ListedFile => ({
  id: row.id,
  name: row.name,
  first: { epoch: row.firstEpoch, xid: BigInt(row.firstXid), id: row.firstId },
  last: { epoch: row.lastEpoch, xid: BigInt(row.lastXid), id: row.lastId },
  events: row.events,
  bytes: row.bytes,
  digest: row.digest,
  from: row.from,
  to: row.to,
  settled: row.settled,
  emptied: row.emptied,
  thawed: row.thawed,
  deletions: row.deletions,
})

interface NextRow extends EventRow {
  readonly old: boolean
  readonly late: boolean
  readonly fits: boolean
}

const next = Effect.fnUntraced(function* (sql: Sql, after: FeedPlace | null, limits: ColdLimits) {
  const { afterHours, groupEvents = Statement.GROUP_EVENTS } = limits
  const [bound] = yield* sql.unsafe<{ readonly epoch: string; readonly bound: string }>(WATERMARK, [0, 0, 0, 0])
  const { epoch, xid, id } = after ?? FEED_START
  const values = [epoch, xid, id, bound!.epoch, bound!.bound, afterHours, groupEvents + 1]
  const rows = yield* sql.unsafe<NextRow>(Statement.NEXT, values)
  const young = rows.findIndex(({ old }) => !old)
  const old = young < 0 ? rows : rows.slice(0, young)
  const kept = old.filter(({ fits }, index) => (fits || index === 0) && index < groupEvents)
  return { events: kept.map(toCold), hasMore: kept.length < old.length, isLate: kept[0]?.late ?? false }
})

const values = ({ first, last, name, ids, times, events, bytes, digest }: WrittenFile) => [
  name,
  first.epoch,
  first.xid,
  first.id,
  last.epoch,
  last.xid,
  last.id,
  ...ids,
  ...times,
  events,
  bytes,
  digest,
]

const isAt = (
  found: { readonly epoch: string; readonly xid: string; readonly id: string } | undefined,
  border: FeedPlace | null,
) =>
  found === undefined
    ? border === null
    : border !== null &&
      Number(found.epoch) === border.epoch &&
      BigInt(found.xid) === border.xid &&
      Number(found.id) === border.id

interface BorderRow {
  readonly epoch: string
  readonly xid: string
  readonly id: string
}

/** Lists a file above the border, if that is where it was. */
const list = (sql: Sql, file: WrittenFile, border: FeedPlace | null) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql.unsafe(Statement.LOCK_LIST)
      const [found] = yield* sql.unsafe<BorderRow>(Statement.BORDER)
      if (!isAt(found, border)) return false
      if ((yield* sql.unsafe(Statement.END_WRITING, [file.name])).length === 0) return false
      yield* sql.unsafe(Statement.LIST_FILE, values(file))
      yield* sql.unsafe(Statement.RAISE_VERSION)
      return true
    }),
  )

const replace = (sql: Sql, old: ListedFile, file: WrittenFile, isNew: boolean) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql.unsafe(Statement.LOCK_LIST)
      const there = yield* sql.unsafe(isNew ? Statement.END_WRITING : Statement.IS_CLAIMED, [file.name])
      if (there.length === (isNew ? 0 : 1)) return false
      const changed = [old.id, old.name, old.deletions, file.name, file.bytes, file.digest]
      // Rolled back by nobody: a file that is not listed is no longer a leftover either, so it is noted again.
      if ((yield* sql.unsafe(Statement.REPLACE_FILE, changed)).length === 0) {
        if (isNew) yield* sql.unsafe(Statement.LEAVE, [file.name])
        return false
      }
      yield* sql.unsafe(Statement.LEAVE, [old.name])
      yield* sql.unsafe(Statement.RAISE_VERSION)
      return true
    }),
  )

const deleteRows = (sql: Sql, { id, name }: ListedFile, rows: ReadonlyArray<RowHash>) =>
  sql.withTransaction(
    Effect.gen(function* () {
      if ((yield* sql.unsafe(Statement.LOCK_SETTLED, [id, name])).length === 0) return null
      const locked = yield* sql.unsafe<{ readonly id: number }>(Statement.LOCK_ROWS, [
        int8Array(rows.map((row) => row.id)),
      ])
      if (locked.length === 0) return 0
      const ids = new Set(locked.map((row) => row.id))
      const there = rows.filter((row) => ids.has(row.id))
      const gone = yield* sql.unsafe(Statement.DELETE_ROWS, [
        int8Array(there.map((row) => row.id)),
        int8Array(there.map(({ hash }) => hash)),
      ])
      if (gone.length > 0) yield* sql.unsafe(Statement.COUNT_DELETION, [id])
      return gone.length
    }),
  )

/** Inserts events while their file is listed. */
export const bringBack = (sql: Sql, { id, name }: Pick<ListedFile, "id" | "name">, events: ReadonlyArray<ColdEvent>) =>
  sql.withTransaction(
    Effect.gen(function* () {
      if ((yield* sql.unsafe(Statement.LOCK_LISTED, [id, name])).length === 0) return false
      yield* sql.unsafe(INSERT_EVENTS, insertValues(events))
      return true
    }),
  )

const endThaw = (sql: Sql, { id, name }: ListedFile) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql.unsafe(Statement.LOCK_LIST)
      if ((yield* sql.unsafe(Statement.END_THAW, [id, name])).length === 0) return
      yield* sql.unsafe(Statement.LEAVE, [name])
      yield* sql.unsafe(Statement.RAISE_VERSION)
    }),
  )

export const layer = Layer.effect(
  ColdStore,
  Effect.map(PgClient.PgClient, (sql) => {
    const isChanged = (statement: string, parameters: ReadonlyArray<unknown>) =>
      orUnavailable(Effect.map(sql.unsafe(statement, parameters), (rows) => rows.length > 0))
    const run = (statement: string, parameters: ReadonlyArray<unknown>) =>
      orUnavailable(Effect.asVoid(sql.unsafe(statement, parameters)))
    return ColdStore.of({
      claim: Effect.tap(isChanged(Statement.CLAIM_WORK, []), () => run(Statement.FORGET_HOLDS, [])),
      release: (error) => run(Statement.RELEASE_WORK, [error]),
      files: orUnavailable(Effect.map(sql.unsafe<Statement.FileRow>(Statement.FILES), (rows) => rows.map(toListed))),
      next: (after, limits) => orUnavailable(next(sql, after, limits)),
      begin: (name) => run(Statement.BEGIN, [name]),
      list: (file, border) => orUnavailable(list(sql, file, border)),
      replace: (old, file, isNew) => orUnavailable(replace(sql, old, file, isNew)),
      deleteRows: (file, rows) => orUnavailable(deleteRows(sql, file, rows)),
      emptied: ({ id, name }) => run(Statement.SET_EMPTIED, [id, name]),
      rowsIn: ({ first, last }) =>
        orUnavailable(
          Effect.map(
            sql.unsafe<{ readonly id: number; readonly hash: string }>(Statement.ROWS_IN, [
              first.epoch,
              first.xid,
              first.id,
              last.epoch,
              last.xid,
              last.id,
            ]),
            (rows) => rows.map(({ id, hash }): RowHash => ({ id, hash: BigInt(hash) })),
          ),
        ),
      rowsOf: (ids) =>
        orUnavailable(
          Effect.map(sql.unsafe<EventRow>(Statement.ROWS_OF, [int8Array(ids)]), (rows) => rows.map(toCold)),
        ),
      beginThaw: ({ id, name }) => isChanged(Statement.BEGIN_THAW, [id, name]),
      bringBack: (file, events) => orUnavailable(bringBack(sql, file, events)),
      endThaw: (file) => orUnavailable(endThaw(sql, file)),
      leftovers: orUnavailable(
        Effect.map(sql.unsafe<{ readonly name: string }>(Statement.CLAIM_LEFTOVERS), (rows) =>
          rows.map(({ name }) => name),
        ),
      ),
      removed: (name) => run(Statement.FORGET_LEFTOVER, [name]),
      status: orUnavailable(Effect.map(sql.unsafe<ColdProgress>(Statement.PROGRESS), ([row]) => row!)),
    })
  }),
)
