/**
 * Plans rows for a source's table, and makes first what it lacks for them. What cannot be planned is one event's own: its
 * neighbours have their plans all the same.
 */
import { faultInWords } from "@data-cabinet/core/error/Fault"
import type { JsonObject } from "@data-cabinet/core/event/Json"
import { type MissingColumn, planRow, type RowPlan, type TableLayout } from "@data-cabinet/core/row/RowPlan"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { addColumns, type SourceTable } from "./SourceTable.ts"

/** An event as far as its row goes: its payload, and this as JSON text. */
export interface RowSource {
  readonly payload: JsonObject
  readonly text: string
}

/** A row that could not be planned, by a fault of the program: the reason in words. */
export class RowFault {
  readonly reason: string
  constructor(cause: unknown) {
    this.reason = faultInWords(cause)
  }
}

/** Rows in the order of their events, and what their table lacks for them. */
interface PlannedRows {
  readonly plans: ReadonlyArray<RowPlan | RowFault>
  /** The columns that must be made before the rows fit, each once. */
  readonly missing: ReadonlyArray<MissingColumn>
  readonly needsMore: boolean
}

const planOf = (layout: TableLayout, event: RowSource): RowPlan | RowFault => {
  try {
    return planRow(layout, event.payload, event.text)
  } catch (cause) {
    return new RowFault(cause)
  }
}

export const planRows = (layout: TableLayout, events: ReadonlyArray<RowSource>): PlannedRows => {
  const plans = events.map((event) => planOf(layout, event))
  const missing = new Map<string, MissingColumn>()
  let needsMore = false
  for (const plan of plans) {
    if (plan instanceof RowFault) continue
    needsMore ||= plan.needsMore
    for (const column of plan.missing) missing.set(`${column.kind} ${column.field}`, column)
  }
  return { plans, missing: [...missing.values()], needsMore }
}

/** A row as JSON for its table; `id` is its event's, or its event's place in a batch. */
export const rowJson = (plan: RowPlan, id: number | string): string => `{"_event_id":${id}${plan.members}}`

/** The table with a column for every field, and the rows' plans for it; undefined where the source is no more. */
export const fittedRows = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  known: SourceTable,
  events: ReadonlyArray<RowSource>,
): Effect.fn.Return<
  { readonly table: SourceTable; readonly plans: ReadonlyArray<RowPlan | RowFault> } | undefined,
  SqlError.SqlError
> {
  let table: SourceTable | undefined = known
  let rows = planRows(table.layout, events)
  // Twice at the most: at the cap the fields that got no column go to `_more`, which may itself be missing.
  for (let n = 0; n < 2 && (rows.missing.length > 0 || rows.needsMore); n++) {
    table = yield* addColumns(sql, table.sourceId, rows.missing, rows.needsMore)
    if (table === undefined) return undefined
    rows = planRows(table.layout, events)
  }
  return { table, plans: rows.plans }
})
