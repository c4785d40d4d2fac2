/** The error for refused operations on the registry of cabinets. */
import { Schema } from "effect"

export class RegistryError extends Schema.TaggedError<RegistryError>()("RegistryError", {
  code: Schema.Literals(["bad_name", "name_taken", "database_taken", "database_not_made", "no_such_cabinet"]),
  message: Schema.String,
}) {}
