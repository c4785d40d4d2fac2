/** Why a cabinet could not be opened, in a sentence that suggests a fix. */
import { Schema } from "effect"

export class StartError extends Schema.TaggedError<StartError>()("StartError", {
  code: Schema.Literals([
    "bad_setting",
    "database_unreachable",
    "database_refused",
    "database_unfit",
    "embedded",
    "port_taken",
    "worker_ended",
    "which_cabinet",
  ]),
  message: Schema.String,
  /** Why the database cannot be used, in words that may be shown to anyone. */
  words: Schema.optionalKey(Schema.String),
}) {}
