/** The error for a refused selection of rows. */
import { Schema } from "effect"

export class SelectionError extends Schema.TaggedError<SelectionError>()("SelectionError", {
  code: Schema.Literals([
    "unknown_param",
    "bad_limit",
    "bad_cursor",
    "bad_filter",
    "bad_fo",
    "bad_fv",
    "bad_dir",
    "bad_period",
    "unknown_column",
    "bad_columns",
    "bad_selection",
    "no_such_table",
  ]),
  message: Schema.String,
  /** The parameter at fault; null when the object is. */
  param: Schema.NullOr(Schema.String),
}) {}

/** A reason for refusing a selection. */
export type SelectionCode = SelectionError["code"]
