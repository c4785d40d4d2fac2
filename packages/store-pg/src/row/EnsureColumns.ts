/**
 * Plans rows for a source's table, after adding the columns that they need. An event that cannot be planned does not
 * affect the plans of other events.
 */
import { faultInWords } from "@data-cabinet/core/error/Fault"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { LongValues } from "@data-cabinet/core/row/LongValues"
import { type MissingColumn, planRow, type RowPlan, type TableLayout } from "@data-cabinet/core/row/RowPlan"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import type { SqlError } from "effect/sql"
import { isConflict, isUnavailable, sqlMessage } from "../connection/StoreFailure.ts"
import { addColumns, type SourceTable } from "./SourceTable.ts"

/** The part of an event that its row is made from: its payload, and the payload's JSON text. */
export interface RowSource {
  readonly payload: JsonObject
  readonly text: string
}

/** A row that could not be planned because of a defect in the program, with the reason in words. */
export class RowFault {
  readonly reason: string
  constructor(cause: unknown) {
    this.reason = faultInWords(cause)
  }
}

/** A row whose columns cannot be added: `plan` has the values for the existing columns. */
export class ShortRow {
  readonly plan: RowPlan
  /** Why the columns cannot be added, in the database's words. */
  readonly reason: string
  constructor(plan: RowPlan, reason: string) {
    this.plan = plan
    this.reason = reason
  }
}

/** The outcome of planning the row of one event. */
export type PlannedRow = RowPlan | RowFault | ShortRow

/** Planned rows in the order of their events, and the columns that their table lacks. */
interface PlannedRows {
  readonly plans: ReadonlyArray<RowPlan | RowFault>
  /** The columns that the rows still need, without duplicates. */
  readonly missing: ReadonlyArray<MissingColumn>
  readonly needsMore: boolean
}

const planOf = (layout: TableLayout, event: RowSource, long?: LongValues, fixed = false): RowPlan | RowFault => {
  try {
    return planRow(layout, event.payload, event.text, long, fixed)
  } catch (cause) {
    return new RowFault(cause)
  }
}

export const planRows = (layout: TableLayout, events: ReadonlyArray<RowSource>): PlannedRows =>
  togetherOf(events.map((event) => planOf(layout, event)))

/** How many characters of events are planned before other fibers may run. */
const YIELD_AFTER_LENGTH = 131_072

const textLength = (events: ReadonlyArray<RowSource>): number => {
  let length = 0
  for (const event of events) length += event.text.length
  return length
}

/** Examines a long event in steps before its row is planned. Planning meets the same fault again, so it is ignored here. */
const lookThrough = Effect.fnUntraced(function* (event: RowSource) {
  const begun = Result.try(() => new LongValues(event.payload))
  if (Result.isFailure(begun)) return undefined
  while (true) {
    yield* Effect.yieldNow
    const whole = Result.try(() => begun.success.advance())
    if (Result.isFailure(whole)) return undefined
    if (whole.success) return begun.success
  }
})

const planLongRows = Effect.fnUntraced(function* (
  layout: TableLayout,
  events: ReadonlyArray<RowSource>,
  seen: Map<RowSource, LongValues>,
) {
  const plans: Array<RowPlan | RowFault> = []
  let length = 0
  for (const event of events) {
    length += event.text.length
    if (length > YIELD_AFTER_LENGTH) {
      yield* Effect.yieldNow
      length = 0
    }
    let long = seen.get(event)
    if (long === undefined && event.text.length > YIELD_AFTER_LENGTH) {
      long = yield* lookThrough(event)
      if (long !== undefined) seen.set(event, long)
      yield* Effect.yieldNow
    }
    plans.push(planOf(layout, event, long))
  }
  yield* Effect.yieldNow
  return togetherOf(plans)
})

const togetherOf = (plans: ReadonlyArray<RowPlan | RowFault>): PlannedRows => {
  const missing = new Map<string, MissingColumn>()
  let needsMore = false
  for (const plan of plans) {
    if (plan instanceof RowFault) continue
    needsMore ||= plan.needsMore
    for (const column of plan.missing) missing.set(`${column.kind} ${column.field}`, column)
  }
  return { plans, missing: [...missing.values()], needsMore }
}

/** A row as JSON for its table. `id` is the id of its event, or the event's position in a batch. */
export const rowJson = (plan: RowPlan, id: number | string): string => `{"_event_id":${id}${plan.members}}`

/** Plans a row for a table that gets no more columns, for the given reason. */
export const fixedRow = (layout: TableLayout, event: RowSource, reason: string, long?: LongValues): PlannedRow => {
  const plan = planOf(layout, event, long, true)
  return plan instanceof RowFault || isComplete(plan) ? plan : new ShortRow(plan, reason)
}

/** Whether the table has every column that the row needs. */
const isComplete = ({ missing, needsMore }: RowPlan): boolean => missing.length === 0 && !needsMore

/** A table and the plans of its rows, in the order of the events. */
export interface TableRows {
  readonly table: SourceTable
  readonly plans: ReadonlyArray<PlannedRow>
  /** True if the database refuses columns that the rows need: such rows are short. */
  readonly isShort: boolean
}

/** The reason for a short row if the database has not just refused a column. */
const CANNOT_ADD = "the columns that its table needs cannot be added"

/**
 * Returns the table with a column for every field, and the plans of the rows; undefined if the source no longer exists. Adds
 * columns only if `mayAdd`. Fails if the table is locked or the database unavailable.
 */
export const ensureColumns = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  known: SourceTable,
  events: ReadonlyArray<RowSource>,
  mayAdd = true,
): Effect.fn.Return<TableRows | undefined, SqlError.SqlError> {
  let table: SourceTable | undefined = known
  const isLong = textLength(events) > YIELD_AFTER_LENGTH
  const seen = new Map<RowSource, LongValues>()
  let rows = isLong ? yield* planLongRows(table.layout, events, seen) : planRows(table.layout, events)
  let refused: string | undefined = mayAdd ? undefined : CANNOT_ADD
  // At most twice: at the limit of columns, further fields go to `_more`, which may itself be missing.
  for (let n = 0; n < 2 && refused === undefined && (rows.missing.length > 0 || rows.needsMore); n++) {
    const added: Result.Result<SourceTable | undefined, SqlError.SqlError> = yield* Effect.result(
      addColumns(sql, table.sourceId, rows.missing, rows.needsMore),
    )
    if (Result.isFailure(added)) {
      // The cause may be an event trigger, another owner or a limit of the database. It says nothing about the events.
      if (isUnavailable(added.failure) || isConflict(added.failure)) return yield* Effect.fail(added.failure)
      refused = sqlMessage(added.failure)
      break
    }
    table = added.success
    if (table === undefined) return undefined
    rows = isLong ? yield* planLongRows(table.layout, events, seen) : planRows(table.layout, events)
  }
  // A row without a needed column would lose a value, so it does not count as complete, though it may be deferred.
  const isShort = table.name !== null && (rows.missing.length > 0 || rows.needsMore)
  if (!isShort) return { table, plans: rows.plans, isShort }
  const { layout } = table
  const reason = refused ?? CANNOT_ADD
  const fixed = (plan: RowPlan | RowFault, index: number) => {
    const event = events[index]!
    return plan instanceof RowFault || isComplete(plan) ? plan : fixedRow(layout, event, reason, seen.get(event))
  }
  return { table, plans: rows.plans.map(fixed), isShort }
})
