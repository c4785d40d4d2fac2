/**
 * What an operator can change about the columns of a source's table. Senders only ever add columns; nobody else changes
 * them.
 */
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { ColumnKind } from "./FieldColumn.ts"

export class ColumnError extends Schema.TaggedError<ColumnError>()("ColumnError", {
  code: Schema.Literals([
    "no_such_source",
    "no_table",
    "no_such_column",
    "bad_label",
    "views_depend",
    "objects_depend",
    "views_slow",
    "table_busy",
  ]),
  message: Schema.String,
}) {}

/** A column as shown to the cabinet's owner. */
export interface SourceColumn {
  readonly name: string
  readonly field: string
  readonly label: string
  readonly type: ColumnKind
  /** The event that created it; null while that is not recorded. */
  readonly eventId: number | null
  readonly createdAt: string
}

/** The result of changing a column's type. */
export interface RetypeResult {
  readonly column: SourceColumn
  /** How many values the new type could not hold and were moved to the sibling column, which `sibling` names. */
  readonly moved: number
  readonly sibling: string | null
  /** The views that were recreated, as `schema.name`. */
  readonly views: ReadonlyArray<string>
}

export class SourceColumns extends Context.Service<
  SourceColumns,
  {
    readonly list: (sourceId: number) => Effect.Effect<ReadonlyArray<SourceColumn>, ColumnError | StoreUnavailable>
    readonly relabel: (
      sourceId: number,
      column: string,
      label: string,
    ) => Effect.Effect<SourceColumn, ColumnError | StoreUnavailable>
    /**
     * Changes a column's type in one transaction. A value is converted only if its text represents a value of the new type
     * exactly; the others move to the sibling column of the old type. Fails if views depend on the column, unless
     * `withViews` is set: then they are recreated with their owners, rights, comments and indexes, within a time limit.
     * Fails if anything else depends on the column that cannot be recreated, and names it.
     */
    readonly retype: (
      sourceId: number,
      column: string,
      type: ColumnKind,
      options: { readonly withViews: boolean },
    ) => Effect.Effect<RetypeResult, ColumnError | StoreUnavailable>
  }
>()("@data-cabinet/core/row/SourceColumns") {}
