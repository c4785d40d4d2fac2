/** Lets the reader read what stood in the database before the cabinet came, schema by schema, and takes it back. */
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/**
 * `no_such_schema`: the database has none of this name. `not_for_readers`: the cabinet's own or the system's. `no_right`:
 * the schema is another's, who alone may open it; the message says what to run. `no_reader`: there is no reader role.
 */
export class SchemaGrantError extends Schema.TaggedError<SchemaGrantError>()("ExposureError", {
  code: Schema.Literals(["no_such_schema", "not_for_readers", "no_right", "no_reader"]),
  message: Schema.String,
}) {}

type Answer = Effect.Effect<{ readonly objects: number }, SchemaGrantError | StoreUnavailable>

/** Both answer how many tables and views of the schema the reader may read now. */
export class SchemaGrants extends Context.Service<
  SchemaGrants,
  {
    /** What is in the schema now, and what its owner, as whom this runs, makes there later. */
    readonly expose: (schema: string) => Answer
    readonly hide: (schema: string) => Answer
  }
>()("@data-cabinet/core/row/SchemaGrants") {}
