/** The error for refused operations on the trash. */
import { Schema } from "effect"

export class TrashError extends Schema.TaggedError<TrashError>()("TrashError", {
  code: Schema.Literals(["no_such_source", "no_such_event", "too_many_events"]),
  message: Schema.String,
}) {}
