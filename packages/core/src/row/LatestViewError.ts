/** The error for a refused view of the latest rows. */
import { Schema } from "effect"

/**
 * `no_such_table`: no readable object has this name. `no_such_column`: the object has no such column. `bad_columns`:
 * the key has no column, too many, or one of them twice. `bad_view_name`: no view can have this name. `no_author`: no
 * role may create views. `view_failed`: PostgreSQL refused; the message is its own.
 */
export class LatestViewError extends Schema.TaggedError<LatestViewError>()("LatestViewError", {
  code: Schema.Literals([
    "no_such_table",
    "no_such_column",
    "bad_columns",
    "bad_view_name",
    "no_author",
    "view_failed",
  ]),
  message: Schema.String,
}) {}
