/** The error for refused late verifications. */
import { Schema } from "effect"

export class LateVerificationError extends Schema.TaggedError<LateVerificationError>()("LateVerificationError", {
  code: Schema.Literals(["no_such_source", "no_such_event", "too_many_events", "bad_cursor", "not_checkable"]),
  message: Schema.String,
}) {}
