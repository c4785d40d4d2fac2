/** The error for refused operations on the columns of a source's table. */
import { Schema } from "effect"

/**
 * `bad_notation`: unknown, or it does not apply to the column or its new type. `views_depend`: views must be recreated
 * with the column, and may not be, or cannot be. `objects_depend`: something else depends on it. `views_slow`:
 * recreating the views took too long. `table_busy`: the table could not be locked. `column_filled`, `fixed_column`,
 * `column_used`: a column cannot be dropped because it has a value, belongs to every source's table, or is used by an
 * index or a saved view. `columns_used_up`: the table has too few column numbers left to drop one.
 */
export class ColumnError extends Schema.TaggedError<ColumnError>()("ColumnError", {
  code: Schema.Literals([
    "no_such_source",
    "no_table",
    "no_such_column",
    "bad_label",
    "bad_notation",
    "views_depend",
    "objects_depend",
    "views_slow",
    "table_busy",
    "column_filled",
    "fixed_column",
    "column_used",
    "columns_used_up",
  ]),
  message: Schema.String,
}) {}
