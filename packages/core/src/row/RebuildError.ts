/** The error for a rebuild of a table that is refused, or that ended without an effect. The old table is as it was. */
import { Schema } from "effect"

/**
 * `bad_columns`: the requested columns contradict each other. `objects_depend`: something depends on the table that
 * cannot be moved to the new one. `no_right`: the table belongs to another role. `rows_without_event`: such rows cannot
 * take other types. `row_refused`: the database refuses a row of the new table. `view_failed`: a view does not work with
 * the new table. `table_busy`: the table could not be locked. `rebuild_running`: another process rebuilds it.
 * `rebuild_ended`: it was cancelled, its process ended, or the table was changed meanwhile. `no_rebuild`: the table was never
 * rebuilt.
 */
export class RebuildError extends Schema.TaggedError<RebuildError>()("RebuildError", {
  code: Schema.Literals([
    "no_such_source",
    "no_table",
    "no_such_column",
    "bad_columns",
    "objects_depend",
    "no_right",
    "rows_without_event",
    "row_refused",
    "view_failed",
    "table_busy",
    "rebuild_running",
    "rebuild_ended",
    "no_rebuild",
  ]),
  message: Schema.String,
}) {}
