/** Why rows could not be read, though the request was valid. */
import { Schema } from "effect"

export class ReadError extends Schema.TaggedError<ReadError>()("ReadError", {
  /**
   * `table_busy`: a lock was not acquired in time. `query_failed`: any other error while running, in the database's
   * words. `query_timeout`: the time limit. `reader_off`: reading is switched off, or the reader cannot connect.
   */
  code: Schema.Literals(["table_busy", "query_failed", "query_timeout", "reader_off"]),
  message: Schema.String,
  /** When to retry, in whole seconds; for `reader_off` and `query_timeout`. */
  retryAfter: Schema.Int,
}) {}

/** The database could not read a value as the type it was sent for: the request is at fault, not the query. */
export class RefusedValue extends Schema.TaggedError<RefusedValue>()("RefusedValue", {
  /** Its index in the query's values, from 0. */
  index: Schema.Int,
  /** The database's message. */
  message: Schema.String,
}) {}

/** The object has changed since it was looked up: everything read on the basis of its old definition is invalid. */
export class StaleObject extends Schema.TaggedError<StaleObject>()("StaleObject", {}) {}
