/** The error for refused changes of schemas: grants to the reader, and schemas for the author. */
import { Schema } from "effect"

/**
 * `no_such_schema`: the database has no schema of this name. `not_for_readers`: the schema is the cabinet's own or the
 * system's. `no_right`: the schema has another owner, who alone can grant access; the message has the SQL to run.
 * `no_reader`: the reader role does not exist. `schema_exists`: a schema of this name exists already. `no_author`: the
 * author role, which would own it, does not exist.
 */
export class SchemaGrantError extends Schema.TaggedError<SchemaGrantError>()("SchemaGrantError", {
  code: Schema.Literals(["no_such_schema", "not_for_readers", "no_right", "no_reader", "schema_exists", "no_author"]),
  message: Schema.String,
}) {}
