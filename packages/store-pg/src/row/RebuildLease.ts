/** Begins a rebuild, which takes its lease, and removes everything that it has written. */
import { hostname } from "node:os"
import { LEASE_MILLIS } from "@data-cabinet/core/follower/FollowerStore"
import { NotRebuilt, type RebuildPlan } from "@data-cabinet/core/row/RebuildStore"
import { quoteName } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Result, Schedule } from "effect"
import { SqlError } from "effect/sql"
import { connectionLossAsError, isConflict, isUnavailable } from "../connection/StoreFailure.ts"
import * as Statement from "./RebuildStatement.ts"
import { SWAP_LOCK_MILLIS } from "./RebuildSwap.ts"
import { loadSourceTable } from "./SourceTable.ts"

type Sql = PgClient.PgClient

/** Triggers come and go under short locks. */
const SHORT_ATTEMPTS = 100
const PAUSE = "250 millis"

const HOLDER = `${hostname()}:${process.pid}`

/** A rebuild that this process works on. */
export interface Held {
  readonly id: number
  readonly lease: number
  readonly sourceId: number
}

const briefly = <A, E>(work: Effect.Effect<A, E | SqlError.SqlError>) =>
  work.pipe(
    Effect.retry({
      while: (error) => SqlError.isSqlError(error) && isConflict(error),
      schedule: Schedule.spaced(PAUSE),
      times: SHORT_ATTEMPTS,
    }),
    Effect.mapError((error) =>
      SqlError.isSqlError(error) && isConflict(error) && !isUnavailable(error)
        ? new NotRebuilt({ fact: { is: "busy", seconds: 30 } })
        : error,
    ),
  )

export const hold = Effect.fnUntraced(function* (
  sql: Sql,
  { id, lease }: Pick<Held, "id" | "lease">,
): Effect.fn.Return<void, NotRebuilt | SqlError.SqlError> {
  const found = yield* sql.unsafe(Statement.HOLD, [id, lease])
  if (found.length === 0) return yield* new NotRebuilt({ fact: { is: "cancelled" } })
})

/** Removes everything that a rebuild has written, if the lease is still this one. */
export const remove = (sql: Sql, held: Held) =>
  briefly(
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql.unsafe(`SET LOCAL lock_timeout = ${SWAP_LOCK_MILLIS}`)
        yield* sql`SET LOCAL statement_timeout = 0`
        if ((yield* sql.unsafe(Statement.HOLD, [held.id, held.lease])).length === 0) return
        const table = yield* loadSourceTable(sql, held.sourceId)
        if (table !== undefined && table.name !== null) {
          const old = Statement.oldTable(table.name)
          const triggers = yield* sql.unsafe<{ name: string }>(Statement.FIND_TRIGGERS, [old])
          for (const { name } of triggers) yield* sql.unsafe(Statement.dropTrigger(name, old))
        }
        yield* sql.unsafe(`DROP TABLE IF EXISTS ${Statement.newTable(held.sourceId)}`)
        yield* sql.unsafe(Statement.FORGET_CHANGES, [held.sourceId])
        yield* sql.unsafe(Statement.END, [held.id])
      }),
    ),
  )

interface FoundRebuild {
  readonly id: number
  readonly lease: number
  readonly holder: string | null
  readonly held: boolean
}

export const findRebuild = (sql: Sql, sourceId: number) =>
  Effect.map(sql.unsafe<FoundRebuild>(Statement.FIND, [String(sourceId)]), ([found]) => found)

/** Creates the new table, and has the changes of the old one noted. */
export const begin = (sql: Sql, sourceId: number, table: string, plan: RebuildPlan) =>
  briefly(
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql.unsafe(`SET LOCAL lock_timeout = ${SWAP_LOCK_MILLIS}`)
        const [begun] = yield* sql.unsafe<{ id: number; lease: number }>(Statement.BEGIN, [
          String(sourceId),
          HOLDER,
          LEASE_MILLIS,
        ])
        if (begun === undefined) return yield* new NotRebuilt({ fact: { is: "running", holder: null } })
        const columns = plan.columns.map(({ name, kind }) => `, ${quoteName(name)} ${kind}`)
        const key = quoteName(`${Statement.newTableOf(sourceId)}_pkey`)
        yield* sql.unsafe(
          `CREATE TABLE ${Statement.newTable(sourceId)} (_event_id bigint CONSTRAINT ${key} PRIMARY KEY, _received_at timestamptz NOT NULL${columns.join("")}${plan.hasMore ? ", _more jsonb" : ""})`,
        )
        for (const statement of Statement.noteChanges(sourceId, Statement.oldTable(table))) yield* sql.unsafe(statement)
        return { ...begun, sourceId }
      }),
    ),
  )

/** Renews the lease until it is lost. */
export const heartbeat = (sql: Sql, { id, lease }: Held, work: { readonly isSwapping: boolean }) =>
  Effect.gen(function* () {
    for (;;) {
      yield* Effect.sleep(LEASE_MILLIS / 4)
      const renewed = yield* Effect.result(
        connectionLossAsError(sql.unsafe(Statement.RENEW, [id, lease, LEASE_MILLIS])),
      )
      if (Result.isSuccess(renewed) && renewed.success.length === 0 && !work.isSwapping) {
        return yield* new NotRebuilt({ fact: { is: "cancelled" } })
      }
    }
  })
