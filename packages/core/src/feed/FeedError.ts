/** The error for a refused request to the event feed. */
import { Schema } from "effect"

export class FeedError extends Schema.TaggedError<FeedError>()("FeedError", {
  code: Schema.Literals([
    "unknown_param",
    "bad_limit",
    "bad_cursor",
    "bad_source_id",
    "bad_channel",
    "bad_period",
    "no_such_source",
  ]),
  message: Schema.String,
  /** The parameter at fault. */
  param: Schema.String,
}) {}
