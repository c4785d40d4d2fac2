/** The error for refused operations on sources. */
import { Schema } from "effect"

export class SourceError extends Schema.TaggedError<SourceError>()("SourceError", {
  code: Schema.Literals([
    "no_such_source",
    "bad_name",
    "bad_encoding",
    "bad_thanks_url",
    "bad_keep_headers",
    "bad_header_fields",
    "bad_expiry",
    "bad_rate",
    "bad_honeypot",
    "bad_allow_origins",
    "bad_verify",
    "bad_verify_secret",
    "bad_challenge",
    "bad_from",
    "table_in_use",
  ]),
  message: Schema.String,
}) {}
