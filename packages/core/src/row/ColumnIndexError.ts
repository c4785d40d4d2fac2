/** The error for refused operations on the indexes of columns. */
import { Schema } from "effect"

/**
 * `no_such_table`: no readable object has this name. `no_such_column`: the object has no such column. `no_such_index`:
 * the table has no such index of the cabinet's. `not_indexable`: a view, a foreign or partitioned table, or columns
 * that no index of this kind can have. `no_right`: the table has another owner. `build_failed`: PostgreSQL failed; the
 * message is its own.
 */
export class ColumnIndexError extends Schema.TaggedError<ColumnIndexError>()("ColumnIndexError", {
  code: Schema.Literals([
    "no_such_table",
    "no_such_column",
    "no_such_index",
    "not_indexable",
    "no_right",
    "build_failed",
  ]),
  message: Schema.String,
}) {}
