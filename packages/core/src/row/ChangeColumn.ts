/** Changes a column's type and label in one call, for the command and the management API. */
import { Effect } from "effect"
import * as Shape from "../json/Shape.ts"
import type { ColumnKind } from "./FieldColumn.ts"
import type { Notation } from "./Notation.ts"
import { columnMembers } from "./SourceColumnStore.ts"
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

interface ShownChange extends SourceColumn, Omit<RetypeResult, "column"> {}

/** The JSON of a changed column and its description. */
export const changedColumnShape = Shape.derived(
  ({ column, retyped }: ChangedColumn): ShownChange => ({
    ...column,
    moved: retyped?.moved ?? 0,
    sibling: retyped?.sibling ?? null,
    views: retyped?.views ?? [],
  }),
  Shape.named(
    "RetypeResult",
    Shape.object<ShownChange>("A column after its change.", {
      ...columnMembers,
      moved: Shape.whole("How many values the new type could not hold; they moved to `sibling`."),
      sibling: Shape.orNull(Shape.text("The column they moved to.")),
      views: Shape.list(Shape.text(), "The views that were recreated."),
    }),
  ),
)

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
