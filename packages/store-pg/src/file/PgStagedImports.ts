/** Staged imports in PostgreSQL. */
import { randomUUID } from "node:crypto"
import {
  type HeldImport,
  type ImportStatus,
  LeaseLost,
  StagedImports,
  type StagedRow,
} from "@data-cabinet/core/file/StagedImports"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { boolArray, byteaArray, int8Array, textArray } from "../connection/ArrayParameter.ts"
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
}

const toStatus = ({ source_id, created_at, finished_at, ...row }: StatusRow): ImportStatus => ({
  ...row,
  sourceId: source_id,
  createdAt: created_at,
  finishedAt: finished_at,
})

/** Staged rows deleted by one statement. */
const DELETE_BATCH = 20_000

export const layer = Layer.effect(
  StagedImports,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient

    /** A statement of the lease holder: no row means that another holds the lease, or that the import has ended. */
    const held = <A>(holder: HeldImport, statement: string, values: ReadonlyArray<unknown>) =>
      orUnavailable(
        Effect.flatMap(sql.unsafe(statement, [holder.id, holder.lease, ...values]), ([row]) =>
          row === undefined ? Effect.fail(new LeaseLost({ importId: holder.id })) : Effect.succeed(row as A),
        ),
      )

    const forget = (statement: string, values: ReadonlyArray<unknown>) =>
      Effect.gen(function* () {
        let total = 0
        for (let count = DELETE_BATCH; count === DELETE_BATCH; total += count) {
          count = (yield* orUnavailable(sql.unsafe(statement, [...values, DELETE_BATCH]))).length
        }
        return total
      })

    const status = (statement: string, values: ReadonlyArray<unknown>) =>
      orUnavailable(
        Effect.map(sql.unsafe<StatusRow>(statement, values), ([row]) =>
          Option.map(Option.fromNullishOr(row), toStatus),
        ),
      )

    const failLost = orUnavailable(sql.unsafe(ImportStatement.FAIL_LOST))

    return StagedImports.of({
      begin: Effect.fnUntraced(function* (wanted) {
        const lease = randomUUID()
        const { sourceId, channel, history, name, sha256, bytes, once, pollId } = wanted
        yield* failLost
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
          const same = yield* status(ImportStatement.SAME, [sourceId, sha256])
          if (Option.isSome(same)) return { same: same.value }
        }
      }),
      same: (sourceId, sha256) => status(ImportStatement.SAME, [sourceId, sha256]),
      stage: (holder, rows) =>
        held<unknown>(holder, ImportStatement.STAGE, [
          int8Array(rows.map((row) => row.n)),
          boolArray(rows.map((row) => row.empty)),
          byteaArray(rows.map((row) => row.key)),
          textArray(rows.map((row) => row.payload)),
        ]).pipe(Effect.asVoid),
      seal: (holder, { staged, refused }) => Effect.asVoid(held(holder, ImportStatement.SEAL, [staged, refused])),
      fail: (holder, failure) =>
        orUnavailable(
          sql.withTransaction(
            Effect.gen(function* () {
              const { poll_id } = yield* held<{ poll_id: number | null }>(holder, ImportStatement.FAIL, [failure])
              if (poll_id !== null) yield* sql.unsafe(ImportStatement.UNSEE, [holder.id, poll_id])
            }),
          ),
        ).pipe(
          // It has failed; the remaining staged rows are swept by the next process.
          Effect.andThen(Effect.ignore(forget(ImportStatement.FORGET_OF, [holder.id]))),
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
        Effect.map(held<{ accepted: number }>(holder, ImportStatement.HOLD, []), ({ accepted }) => accepted),
      release: (holder, why) => Effect.asVoid(held(holder, ImportStatement.RELEASE, [why])),
      finish: (holder) =>
        held(holder, ImportStatement.FINISH, []).pipe(
          // The import is done; the remaining staged rows are swept by the next process.
          Effect.andThen(Effect.ignore(forget(ImportStatement.FORGET_OF, [holder.id]))),
          Effect.asVoid,
        ),
      status: (id) => status(ImportStatement.STATUS_OF, [id]),
      list: (limit) =>
        orUnavailable(Effect.map(sql.unsafe<StatusRow>(ImportStatement.LIST, [limit]), (rows) => rows.map(toStatus))),
      sweep: Effect.andThen(failLost, forget(ImportStatement.FORGET, [])),
    })
  }),
)
