/** Why rows could not be read, though the request was right. */
import { Schema } from "effect"

export class ReadError extends Schema.TaggedError<ReadError>()("ReadError", {
  /**
   * `table_busy`: a lock was not had in time. `query_failed`: any other error while running, in the database's words.
   * `query_timeout`: the time limit. `reader_off`: reading is switched off, or the reader cannot connect.
   */
  code: Schema.Literals(["table_busy", "query_failed", "query_timeout", "reader_off"]),
  message: Schema.String,
  /** When it is worth asking again, in whole seconds; for `reader_off` and `query_timeout`. */
  retryAfter: Schema.Int,
}) {}

/** A value that the database could not read as the type it was sent for: the request's fault, not the query's. */
export class RefusedValue extends Schema.TaggedError<RefusedValue>()("RefusedValue", {
  /** Its place in the query's values, from 0. */
  index: Schema.Int,
  /** The database's sentence. */
  message: Schema.String,
}) {}

/** The object was changed since it was found: nothing that was read by what it was counts. */
export class StaleObject extends Schema.TaggedError<StaleObject>()("StaleObject", {}) {}
