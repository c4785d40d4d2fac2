/** The error for refused operations on saved views. */
import { Schema } from "effect"

export class SavedViewError extends Schema.TaggedError<SavedViewError>()("SavedViewError", {
  code: Schema.Literals(["no_such_view", "bad_title", "bad_query", "too_many_views", "not_your_view"]),
  message: Schema.String,
}) {}
