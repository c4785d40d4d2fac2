/** A column's type and label changed in one call, for the command and the management API. */
import { Effect } from "effect"
import type { ColumnKind } from "./FieldColumn.ts"
import type { Notation } from "./Notation.ts"
import type { RetypeResult, SourceColumn, SourceColumns } from "./SourceColumns.ts"

export interface ColumnChange {
  readonly type?: ColumnKind | undefined
  readonly label?: string | undefined
  /** Views that depend on the column are recreated; without it, a change of type is refused if there are any. */
  readonly withViews: boolean
  /** How the values of a column of text are written; only with a type. */
  readonly notation?: Notation | undefined
}

export interface ChangedColumn {
  readonly column: SourceColumn
  /** Absent if the type was not changed. */
  readonly retyped: RetypeResult | undefined
}

/** At least one of the two has to be given. The type is changed first: if it is refused, nothing has changed. */
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
