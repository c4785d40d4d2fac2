/** What an operator may do to the columns of a source's table. Senders only ever add columns; nobody else changes them. */
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

/** A column as its owner sees it. */
export interface SourceColumn {
  readonly name: string
  readonly field: string
  readonly label: string
  readonly type: ColumnKind
  /** The event that brought it about; null while that is not known. */
  readonly eventId: number | null
  readonly createdAt: string
}

/** What became of a column that got another type. */
export interface RetypeResult {
  readonly column: SourceColumn
  /** Values that the new type could not take and that moved to the sibling column; `siblings` names where to. */
  readonly moved: number
  readonly sibling: string | null
  /** The views that were recreated, `schema.name`. */
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
     * Gives a column another type, in one transaction. A value goes over only if its text spells one of the new type
     * exactly; the others move to the sibling column of the old type. Refused in words while views depend on the column,
     * unless `withViews`: then they are recreated with their owners, rights, comments and indexes, within a time limit.
     * Refused by name where something else depends on the column that cannot be recreated.
     */
    readonly retype: (
      sourceId: number,
      column: string,
      type: ColumnKind,
      options: { readonly withViews: boolean },
    ) => Effect.Effect<RetypeResult, ColumnError | StoreUnavailable>
  }
>()("@data-cabinet/core/row/SourceColumns") {}
