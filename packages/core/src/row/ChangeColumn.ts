/** Changes a column's type and label in one call, for the command and the management API. */
import { Effect } from "effect"
import type { ColumnKind } from "./FieldColumn.ts"
import type { Notation } from "./Notation.ts"
import type { RetypeResult, SourceColumn, SourceColumns } from "./SourceColumns.ts"

/** The changes to a column; absent fields stay unchanged. */
export interface ColumnChange {
  readonly type?: ColumnKind | undefined
  readonly label?: string | undefined
  /** Whether to recreate the views that depend on the column; otherwise they prevent a change of type. */
  readonly withViews: boolean
  /** How the values of a text column are written; only with a type. */
  readonly notation?: Notation | undefined
}

/** A column after its change. */
export interface ChangedColumn {
  readonly column: SourceColumn
  /** Absent if the type was not changed. */
  readonly retyped: RetypeResult | undefined
}

/** At least one of type and label must be given. The type is changed first: if that is refused, nothing has changed. */
export const changeColumn = Effect.fnUntraced(function* (
  columns: SourceColumns["Service"],
  sourceId: number,
  name: string,
  { type, label, withViews, notation }: ColumnChange,
) {
  const retyped = type === undefined ? undefined : yield* columns.retype(sourceId, name, type, { withViews, notation })
  const relabelled = label === undefined ? undefined : yield* columns.relabel(sourceId, name, label)
  return { column: relabelled ?? retyped!.column, retyped } satisfies ChangedColumn
})
