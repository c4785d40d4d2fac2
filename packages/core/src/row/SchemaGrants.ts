/** Grants and revokes the reader's access to schemas that existed in the database before the cabinet. */
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/**
 * `no_such_schema`: the database has no schema of this name. `not_for_readers`: the schema is the cabinet's own or the
 * system's. `no_right`: the schema has another owner, who alone can grant access; the message says what to run.
 * `no_reader`: there is no reader role.
 */
export class SchemaGrantError extends Schema.TaggedError<SchemaGrantError>()("ExposureError", {
  code: Schema.Literals(["no_such_schema", "not_for_readers", "no_right", "no_reader"]),
  message: Schema.String,
}) {}

type Answer = Effect.Effect<{ readonly objects: number }, SchemaGrantError | StoreUnavailable>

/** Both return how many tables and views of the schema the reader can read now. */
export class SchemaGrants extends Context.Service<
  SchemaGrants,
  {
    /** Grants access to what is in the schema now, and to what its owner, as whom this runs, creates there later. */
    readonly expose: (schema: string) => Answer
    readonly hide: (schema: string) => Answer
  }
>()("@data-cabinet/core/row/SchemaGrants") {}
