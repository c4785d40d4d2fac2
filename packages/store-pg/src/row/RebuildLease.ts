/** Begins a rebuild, which takes its lease, and removes everything that it has written. */
import { hostname } from "node:os"
import { LEASE_MILLIS } from "@data-cabinet/core/follower/FollowerStore"
import { NotRebuilt, type RebuildPlan } from "@data-cabinet/core/row/RebuildStore"
import { quoteName } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Result, Schedule } from "effect"
import { SqlError } from "effect/sql"
import { connectionLossAsError, isConflict, isUnavailable } from "../connection/StoreFailure.ts"
import type { Ending } from "./RebuildEnding.ts"
import * as Statement from "./RebuildStatement.ts"
import { SWAP_LOCK_MILLIS } from "./RebuildSwap.ts"
import { loadSourceTable } from "./SourceTable.ts"

type Sql = PgClient.PgClient

/** Triggers come and go under short locks. */
const ATTEMPTS = 100
/** While a reader keeps the table, what a rebuild has left stays: it is removed later. */
export const SHORT_ATTEMPTS = 8
const PAUSE = "250 millis"
/** With the wait for the lock. */
const ATTEMPT_SECONDS = 0.3

const HOLDER = `${hostname()}:${process.pid}`

/** A rebuild that this process works on. */
export interface Held {
  readonly id: number
  readonly lease: number
  readonly sourceId: number
}

const briefly = <A, E>(work: Effect.Effect<A, E | SqlError.SqlError>, attempts = ATTEMPTS) =>
  work.pipe(
    Effect.retry({
      while: (error) => SqlError.isSqlError(error) && isConflict(error),
      schedule: Schedule.spaced(PAUSE),
      times: attempts,
    }),
    Effect.mapError((error) =>
      SqlError.isSqlError(error) && isConflict(error) && !isUnavailable(error)
        ? new NotRebuilt({ fact: { is: "busy", seconds: Math.ceil(attempts * ATTEMPT_SECONDS) } })
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

const endingValues = ({ state, code, message }: Ending) => [state, code, message, null]

/** Removes everything that a rebuild has written, if the lease is still this one. */
export const remove = (sql: Sql, held: Held, ending: Ending, attempts = ATTEMPTS) =>
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
        yield* sql.unsafe(Statement.FINISH, [held.sourceId, held.id, ...endingValues(ending)])
        yield* sql.unsafe(Statement.END, [held.id])
      }),
    ),
    attempts,
  )

/**
 * Ends a rebuild at once, which then cannot take the table's place, and removes what it has written. If a reader keeps the
 * table, a server removes that later.
 */
export const abandon = (sql: Sql, held: Held, ending: Ending) =>
  Effect.gen(function* () {
    const given = sql.withTransaction(
      Effect.gen(function* () {
        const [next] = yield* sql.unsafe<{ lease: number }>(Statement.GIVE_UP, [held.id, held.lease])
        if (next !== undefined) yield* sql.unsafe(Statement.FINISH, [held.sourceId, held.id, ...endingValues(ending)])
        return next
      }),
    )
    const next = yield* connectionLossAsError(given)
    if (next === undefined) return
    yield* remove(sql, { ...held, ...next }, ending, SHORT_ATTEMPTS).pipe(
      Effect.catchTag("NotRebuilt", () => Effect.void),
    )
  })

interface FoundRebuild {
  readonly id: number
  readonly lease: number
  readonly holder: string | null
  readonly held: boolean
}

export const findRebuild = (sql: Sql, sourceId: number) =>
  Effect.map(sql.unsafe<FoundRebuild>(Statement.FIND, [String(sourceId)]), ([found]) => found)

/** Takes the lease, before the table is looked at: only one process at a time may do that for a rebuild, too. */
export const begin = (sql: Sql, sourceId: number) =>
  connectionLossAsError(
    sql.withTransaction(
      Effect.gen(function* () {
        const [begun] = yield* sql.unsafe<{ id: number; lease: number }>(Statement.BEGIN, [
          String(sourceId),
          HOLDER,
          LEASE_MILLIS,
        ])
        if (begun === undefined) return yield* new NotRebuilt({ fact: { is: "running", holder: null } })
        yield* sql.unsafe(Statement.BEGIN_STATE, [sourceId, begun.id])
        return { ...begun, sourceId } satisfies Held
      }),
    ),
  )

/** Creates the new table, and has the changes of the old one noted. */
export const createNew = (sql: Sql, held: Held, table: string, plan: RebuildPlan) =>
  briefly(
    sql.withTransaction(
      Effect.gen(function* () {
        const { sourceId } = held
        yield* sql.unsafe(`SET LOCAL lock_timeout = ${SWAP_LOCK_MILLIS}`)
        yield* hold(sql, held)
        const columns = plan.columns.map(({ name, kind }) => `, ${quoteName(name)} ${kind}`)
        const key = quoteName(`${Statement.newTableOf(sourceId)}_pkey`)
        yield* sql.unsafe(
          `CREATE TABLE ${Statement.newTable(sourceId)} (_event_id bigint CONSTRAINT ${key} PRIMARY KEY, _received_at timestamptz NOT NULL${columns.join("")}${plan.hasMore ? ", _more jsonb" : ""})`,
        )
        for (const statement of Statement.noteChanges(sourceId, Statement.oldTable(table))) yield* sql.unsafe(statement)
      }),
    ),
  )

/** Renews the lease until it is lost. */
export const heartbeat = (sql: Sql, { id, lease }: Held, isSwapping: () => boolean) =>
  Effect.gen(function* () {
    for (;;) {
      yield* Effect.sleep(LEASE_MILLIS / 4)
      const renewed = yield* Effect.result(
        connectionLossAsError(sql.unsafe(Statement.RENEW, [id, lease, LEASE_MILLIS])),
      )
      if (Result.isSuccess(renewed) && renewed.success.length === 0 && !isSwapping()) {
        return yield* new NotRebuilt({ fact: { is: "cancelled" } })
      }
    }
  })
