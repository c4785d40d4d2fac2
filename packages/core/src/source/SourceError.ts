/** The error for refused operations on sources. */
import { Schema } from "effect"
import { SOURCE_SETTINGS } from "./SourceSettings.ts"

export class SourceError extends Schema.TaggedError<SourceError>()("SourceError", {
  code: Schema.Literals([
    ...SOURCE_SETTINGS.errors.map(({ code }) => code),
    "no_such_source",
    "bad_name",
    "bad_expiry",
    "bad_verify",
    "bad_verify_secret",
    "bad_challenge",
    "bad_proof",
    "bad_from",
    "table_in_use",
  ]),
  message: Schema.String,
}) {}
