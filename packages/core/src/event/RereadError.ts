/** The error for refused rereadings. */
import { Schema } from "effect"

export class RereadError extends Schema.TaggedError<RereadError>()("RereadError", {
  code: Schema.Literals(["no_such_source", "no_such_event", "too_many_events", "bad_cursor", "bad_encoding"]),
  message: Schema.String,
}) {}
