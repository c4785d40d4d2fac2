/** An index that makes `q` fast on a large table. The results of `q` are the same with and without it. */
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/**
 * `no_such_table`: there is no readable object of this name. `not_indexable`: a view, a foreign or partitioned table, one
 * with child tables, or one with columns whose text no index can hold. `no_right`: the table has another owner.
 * `no_trigrams`: the database does not have pg_trgm and cannot install it. `build_failed`: PostgreSQL failed; the message
 * is its own.
 */
export class SearchIndexError extends Schema.TaggedError<SearchIndexError>()("SearchIndexError", {
  code: Schema.Literals(["no_such_table", "not_indexable", "no_right", "no_trigrams", "build_failed"]),
  message: Schema.String,
}) {}

/** The search index of a table. */
export interface SearchIndexState {
  /** The index's name; it is in the table's schema. */
  readonly index: string
  /** False if an existing index already covered all columns. */
  readonly built: boolean
}

export class SearchIndex extends Context.Service<
  SearchIndex,
  {
    /**
     * Creates the index, or rebuilds it if columns were added since. Rows can be written and read meanwhile; a new field of
     * a source waits, with its rows, until the build is complete. No time limit; the remains of an interrupted build are
     * removed.
     */
    readonly build: (
      schema: string,
      name: string,
    ) => Effect.Effect<SearchIndexState, SearchIndexError | StoreUnavailable>
    /** Returns how many indexes were dropped. */
    readonly drop: (schema: string, name: string) => Effect.Effect<number, SearchIndexError | StoreUnavailable>
  }
>()("@data-cabinet/core/row/SearchIndex") {}
