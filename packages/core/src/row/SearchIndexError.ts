/** The error for refused operations on search indexes. */
import { Schema } from "effect"

/**
 * `no_such_table`: no readable object has this name. `not_indexable`: a view, a foreign or partitioned table, one with
 * child tables, or one with columns whose text no index can hold. `no_right`: the table has another owner.
 * `no_trigrams`: the database does not have pg_trgm and cannot install it. `build_failed`: PostgreSQL failed; the
 * message is its own.
 */
export class SearchIndexError extends Schema.TaggedError<SearchIndexError>()("SearchIndexError", {
  code: Schema.Literals(["no_such_table", "not_indexable", "no_right", "no_trigrams", "build_failed"]),
  message: Schema.String,
}) {}
