/**
 * Undone imports in PostgreSQL. A step's transaction locks the undo's row, so that two processes never undo the same
 * slice.
 */
import type { KeptColumn } from "@data-cabinet/core/file/ImportStore"
import {
  ImportUndoStore,
  type MayDrop,
  type NotUndoable,
  type UndoPreview,
} from "@data-cabinet/core/file/ImportUndoStore"
import type { TrashedBy } from "@data-cabinet/core/event/EventListStore"
import { ColdActs } from "../cold/ColdActs.ts"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Result } from "effect"
import { SqlError } from "effect/sql"
import { connectionLossAsError, isConflict, orUnavailable } from "../connection/StoreFailure.ts"
import { type Found, moveToTrash } from "../event/MoveToTrash.ts"
import { dropColumns, usesOf } from "../row/DropColumns.ts"
import { patiently } from "../row/PatientSession.ts"
import { holdSourceTable, SOURCES_SCHEMA, type SourceTable } from "../row/SourceTable.ts"
import * as UndoStatement from "./UndoStatement.ts"

/** How long a step waits for a lock, in milliseconds. */
const LOCK_TIMEOUT_MILLIS = 2_000

type Sql = PgClient.PgClient

interface FoundImport {
  readonly channel: string
  readonly state: string
  readonly staged: number
  readonly accepted: number
  readonly source_id: number
  readonly recorded: number
}

interface HeldUndo {
  readonly position: string
  readonly actor_kind: TrashedBy["kind"] | null
  readonly actor_id: number | null
  readonly actor_name: string | null
  readonly source_id: number
}

interface Slice {
  readonly next: string
  readonly epoch: string
  readonly xid: string
  readonly first_id: string
  readonly last_id: string
}

/** The import, or why it cannot be undone. `locking`: the clause that locks its row. */
const undoable = Effect.fnUntraced(function* (
  sql: Sql,
  id: number,
  locking = "",
): Effect.fn.Return<FoundImport | NotUndoable, SqlError.SqlError> {
  const [found] = yield* sql.unsafe<FoundImport>(`${UndoStatement.FIND}${locking}`, [id])
  if (found === undefined || found.channel !== "file") return { is: "missing" }
  if (found.state !== "done" && found.state !== "failed") {
    return { is: "running", accepted: found.accepted, staged: found.staged }
  }
  return found.recorded === found.accepted ? found : { is: "unrecorded" }
})

const actorOf = ({ actor_kind: kind, actor_id: id, actor_name: name }: HeldUndo): TrashedBy | null =>
  kind === null ? null : { kind, id, name: name ?? "" }

/**
 * Undoes the next slice. Returns the source whose columns may be dropped if no slice is left, or null if the undo is
 * not held.
 */
const undoSlice = (sql: Sql, id: number) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MILLIS}`)
      const [undo] = yield* sql.unsafe<HeldUndo>(UndoStatement.HOLD, [id])
      if (undo === undefined) return null
      const [slice] = yield* sql.unsafe<Slice>(UndoStatement.NEXT_SLICE, [id, undo.position])
      if (slice === undefined) return { sourceId: undo.source_id }
      const { epoch, xid, first_id, last_id, next } = slice
      const values = [undo.source_id, epoch, xid, first_id, last_id]
      const events = yield* sql.unsafe<Found>(UndoStatement.EVENTS_OF_SLICE, values)
      const moved = events.length === 0 ? 0 : yield* moveToTrash(sql, events, actorOf(undo))
      yield* sql.unsafe(UndoStatement.ADVANCE, [id, next, moved])
      return "more" as const
    }),
  )

/** The columns of the table that the undo may drop. */
const createdColumns = (sql: Sql, id: number) =>
  Effect.map(sql.unsafe<{ name: string }>(UndoStatement.CREATED_COLUMNS, [id]), (rows) => rows.map(({ name }) => name))

/** Drops columns that nothing fills any more; the same transaction ends the undo. */
const dropAndFinish = Effect.fnUntraced(function* (sql: Sql, id: number, sourceId: number, mayDrop: MayDrop) {
  const created = yield* createdColumns(sql, id)
  const kept = new Map<string, string>()
  const finish = (columns: ReadonlyArray<string>) => {
    const list: ReadonlyArray<KeptColumn> = [...kept].map(([column, reason]) => ({ column, reason }))
    return sql.unsafe(UndoStatement.FINISH, [id, JSON.stringify(columns), JSON.stringify(list)])
  }
  const dropped = yield* dropColumns(sql, {
    sourceId,
    table: (table: SourceTable | undefined) => Result.succeed(table?.name == null ? [] : created),
    use: (name, use) => {
      const may = mayDrop(name, use)
      if (Result.isFailure(may) && !use.filled) kept.set(name, may.failure.message)
      return Result.succeed(Result.isSuccess(may))
    },
    also: (columns) => {
      const names = new Set(columns.map(({ name }) => name))
      return finish(created.filter((name) => names.has(name)))
    },
  })
  if (dropped.length === 0) yield* finish([])
})

/** The events of the next slice, or of all, may be in files. */
const need = Effect.fnUntraced(function* (sql: Sql, cold: ColdActs["Service"], id: number, which: "next" | "all") {
  const [found] = yield* sql.unsafe<UndoStatement.SliceIds>(UndoStatement.idsOf(which), [id])
  if (found !== undefined && found.first !== null) yield* cold.needIds(found.sourceId, found.first, found.last)
})

const step = Effect.fnUntraced(function* (sql: Sql, cold: ColdActs["Service"], id: number, mayDrop: MayDrop) {
  yield* need(sql, cold, id, "next")
  const outcome = yield* undoSlice(sql, id)
  if (outcome === null) return "busy" as const
  if (outcome === "more") return outcome
  yield* dropAndFinish(sql, id, outcome.sourceId, mayDrop)
  return "done" as const
})

/** The columns of the table that have a value in a row of another event. */
const filledByOthers = Effect.fnUntraced(function* (sql: Sql, id: number, table: string, names: ReadonlyArray<string>) {
  if (names.length === 0) return new Set<string>()
  const [row] = yield* sql.unsafe<{ filled: ReadonlyArray<boolean> }>(
    UndoStatement.filledByOthers(table, names.map(quoteName)),
    [id],
  )
  return new Set(names.filter((_, index) => row!.filled[index] === true))
})

const preview = Effect.fnUntraced(function* (
  sql: Sql,
  id: number,
  mayDrop: MayDrop,
): Effect.fn.Return<UndoPreview | NotUndoable, SqlError.SqlError> {
  yield* sql`SET LOCAL statement_timeout = 0`
  const found = yield* undoable(sql, id)
  if ("is" in found) return found
  const table = yield* holdSourceTable(sql, found.source_id)
  const relation = table?.name == null ? null : quoteQualified(SOURCES_SCHEMA, table.name)
  const [counts] = yield* sql.unsafe<{ events: number; in_trash: number; rows: number; deliveries: number }>(
    UndoStatement.countOurs(relation),
    [id],
  )
  const { in_trash: inTrash, ...others } = counts!
  const columns: Array<string> = []
  const kept: Array<KeptColumn> = []
  if (table !== undefined && relation !== null) {
    const names = yield* createdColumns(sql, id)
    const uses = yield* usesOf(sql, table, names, (present) => filledByOthers(sql, id, relation, present))
    for (const [name, use] of uses) {
      const may = mayDrop(name, use)
      if (Result.isSuccess(may)) columns.push(name)
      else if (!use.filled) kept.push({ column: name, reason: may.failure.message })
    }
  }
  return { importId: id, ...others, inTrash, columns, kept }
})

export const layer = Layer.effect(
  ImportUndoStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cold = yield* ColdActs
    return ImportUndoStore.of({
      preview: (id, mayDrop) =>
        patiently(Effect.andThen(need(sql, cold, id, "all"), sql.withTransaction(preview(sql, id, mayDrop)))),
      begin: (id, by) =>
        sql
          .withTransaction(
            Effect.gen(function* () {
              const found = yield* undoable(sql, id, " FOR UPDATE")
              if ("is" in found) return found
              yield* sql.unsafe(UndoStatement.BEGIN, [id, by?.kind ?? null, by?.id ?? null, by?.name ?? null])
              yield* sql.unsafe(UndoStatement.ALLOW_AGAIN, [id])
              return null
            }),
          )
          .pipe(orUnavailable),
      step: (id, mayDrop) =>
        patiently(
          connectionLossAsError(step(sql, cold, id, mayDrop)).pipe(
            Effect.catchTag("NotRetyped", () => Effect.succeed("busy" as const)),
            Effect.catchIf(
              (error): error is SqlError.SqlError => SqlError.isSqlError(error) && isConflict(error),
              () => Effect.succeed("busy" as const),
            ),
          ),
        ),
      open: orUnavailable(
        Effect.map(sql.unsafe<{ id: number }>(UndoStatement.OPEN), (rows) => rows.map(({ id }) => id)),
      ),
    })
  }),
)
