/** The error for refused operations on sources. */
import { Schema } from "effect"

export class SourceError extends Schema.TaggedError<SourceError>()("SourceError", {
  code: Schema.Literals(["no_such_source", "bad_name", "bad_encoding", "bad_thanks_url", "table_in_use"]),
  message: Schema.String,
}) {}
