/** Staged imports in PostgreSQL. */
import { randomUUID } from "node:crypto"
import {
  type HeldImport,
  type ImportStatus,
  LeaseLost,
  ImportStore,
  type StagedRow,
} from "@data-cabinet/core/file/ImportStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { boolArray, byteaArray, int8Array, textArray } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import * as ImportStatement from "./ImportStatement.ts"

interface StatusRow {
  readonly id: number
  readonly source_id: number
  readonly channel: ImportStatus["channel"]
  readonly name: string
  readonly state: ImportStatus["state"]
  readonly bytes: number
  readonly staged: number
  readonly accepted: number
  readonly refused: number
  readonly failure: string | null
  readonly created_at: string
  readonly finished_at: string | null
  readonly cancelled_at: string | null
  readonly doubts: ImportStatus["doubts"]
  readonly undo: ImportStatus["undo"]
}

const toStatus = ({ source_id, created_at, finished_at, cancelled_at, ...row }: StatusRow): ImportStatus => ({
  ...row,
  sourceId: source_id,
  createdAt: created_at,
  finishedAt: finished_at,
  cancelledAt: cancelled_at,
})

/** Staged rows deleted by one statement. */
const DELETE_BATCH = 20_000

type Sql = PgClient.PgClient

/** A statement of the lease holder: no row means that another holds the lease, or that the import has ended. */
const held = <A>(sql: Sql, holder: HeldImport, statement: string, values: ReadonlyArray<unknown>) =>
  orUnavailable(
    Effect.flatMap(sql.unsafe(statement, [holder.id, holder.lease, ...values]), ([row]) =>
      row === undefined ? Effect.fail(new LeaseLost({ importId: holder.id })) : Effect.succeed(row as A),
    ),
  )

const forget = (sql: Sql, statement: string, values: ReadonlyArray<unknown>) =>
  Effect.gen(function* () {
    let total = 0
    for (let count = DELETE_BATCH; count === DELETE_BATCH; total += count) {
      count = (yield* orUnavailable(sql.unsafe(statement, [...values, DELETE_BATCH]))).length
    }
    return total
  })

const status = (sql: Sql, statement: string, values: ReadonlyArray<unknown>) =>
  orUnavailable(
    Effect.map(sql.unsafe<StatusRow>(statement, values), ([row]) => Option.map(Option.fromNullishOr(row), toStatus)),
  )

const failLost = (sql: Sql) => orUnavailable(sql.unsafe(ImportStatement.FAIL_LOST))

const begin = Effect.fnUntraced(function* (sql: Sql, wanted: Parameters<ImportStore["Service"]["begin"]>[0]) {
  const lease = randomUUID()
  const { sourceId, channel, history, name, sha256, bytes, once, pollId } = wanted
  yield* failLost(sql)
  while (true) {
    const [row] = yield* orUnavailable(
      sql.unsafe<{ id: number }>(ImportStatement.BEGIN, [
        sourceId,
        channel,
        history,
        name,
        sha256,
        bytes,
        once,
        pollId,
        lease,
      ]),
    )
    if (row !== undefined) return { held: { id: row.id, lease } }
    const same = yield* status(sql, ImportStatement.FIND_SAME_FILE, [sourceId, sha256])
    if (Option.isSome(same)) return { same: same.value }
  }
})

/** Returns whether this ended the import. Its poll treats the items that are not events as new again. */
const cancelAndReopen = Effect.fnUntraced(function* (sql: PgClient.PgClient, id: number) {
  const [ended] = yield* sql.unsafe<{ readonly poll_id: number | null }>(ImportStatement.CANCEL, [id])
  if (ended !== undefined && ended.poll_id !== null) {
    yield* sql.unsafe(ImportStatement.DELETE_UNACCEPTED_SEEN, [id, ended.poll_id])
  }
  return ended !== undefined
})

export const layer = Layer.effect(
  ImportStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient

    return ImportStore.of({
      begin: (wanted) => begin(sql, wanted),
      same: (sourceId, sha256) => status(sql, ImportStatement.FIND_SAME_FILE, [sourceId, sha256]),
      stage: (holder, rows) =>
        held<unknown>(sql, holder, ImportStatement.STAGE, [
          int8Array(rows.map((row) => row.n)),
          boolArray(rows.map((row) => row.empty)),
          byteaArray(rows.map((row) => row.key)),
          textArray(rows.map((row) => row.payload)),
        ]).pipe(Effect.asVoid),
      seal: (holder, { staged, refused, doubts }) => {
        const deserving = doubts.length === 0 ? null : JSON.stringify(doubts)
        return Effect.asVoid(held(sql, holder, ImportStatement.SEAL, [staged, refused, deserving]))
      },
      fail: (holder, failure) =>
        orUnavailable(
          sql.withTransaction(
            Effect.gen(function* () {
              const { poll_id } = yield* held<{ poll_id: number | null }>(sql, holder, ImportStatement.FAIL, [failure])
              if (poll_id !== null) yield* sql.unsafe(ImportStatement.DELETE_UNACCEPTED_SEEN, [holder.id, poll_id])
            }),
          ),
        ).pipe(
          // The import has failed; the next process deletes the remaining staged rows.
          Effect.andThen(Effect.ignore(forget(sql, ImportStatement.DELETE_OF, [holder.id]))),
          Effect.asVoid,
        ),
      claim: Effect.fnUntraced(function* (id) {
        const lease = randomUUID()
        const [row] = yield* sql.unsafe<{
          id: number
          source_id: number
          channel: ImportStatus["channel"]
          history: boolean
          staged: number
          accepted: number
        }>(ImportStatement.CLAIM, [lease, id])
        if (row === undefined) return Option.none()
        const { source_id: sourceId, ...rest } = row
        return Option.some({ ...rest, sourceId, lease })
      }, orUnavailable),
      slice: (holder, first, rows) =>
        orUnavailable(
          Effect.map(sql.unsafe<Omit<StagedRow, "key">>(ImportStatement.SLICE, [holder.id, first, rows]), (found) =>
            found.map((row) => ({ ...row, key: null })),
          ),
        ),
      renew: (holder) =>
        Effect.map(held<{ accepted: number }>(sql, holder, ImportStatement.HOLD, []), ({ accepted }) => accepted),
      release: (holder, why) => Effect.asVoid(held(sql, holder, ImportStatement.RELEASE, [why])),
      finish: (holder) =>
        held(sql, holder, ImportStatement.FINISH, []).pipe(
          // The import is done; the next process deletes the remaining staged rows.
          Effect.andThen(Effect.ignore(forget(sql, ImportStatement.DELETE_OF, [holder.id]))),
          Effect.asVoid,
        ),
      cancel: Effect.fnUntraced(function* (id) {
        const ended = yield* sql.withTransaction(cancelAndReopen(sql, id))
        if (ended) return "cancelled" as const
        const [left] = yield* sql.unsafe<{ outcome: "cancelled" | "done" }>(ImportStatement.UNCANCELLED, [id])
        return left?.outcome ?? "missing"
      }, orUnavailable),
      status: (id) => status(sql, ImportStatement.STATUS_OF, [id]),
      list: (limit) =>
        orUnavailable(Effect.map(sql.unsafe<StatusRow>(ImportStatement.LIST, [limit]), (rows) => rows.map(toStatus))),
      sweep: Effect.andThen(failLost(sql), forget(sql, ImportStatement.DELETE, [])),
    })
  }),
)
