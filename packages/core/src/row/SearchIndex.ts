/** An index that makes `q` fast on a large table. What `q` finds is the same with it and without. */
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/**
 * `no_such_table`: there is no readable object of this name. `not_indexable`: a view, a foreign or partitioned table, one
 * with heirs, or one with columns whose text no index can hold. `no_right`: the table is another's. `no_trigrams`: the
 * database has no pg_trgm and cannot have it. `build_failed`: PostgreSQL gave up, in its own words.
 */
export class SearchIndexError extends Schema.TaggedError<SearchIndexError>()("SearchIndexError", {
  code: Schema.Literals(["no_such_table", "not_indexable", "no_right", "no_trigrams", "build_failed"]),
  message: Schema.String,
}) {}

/** The search index of a table. */
export interface SearchIndexState {
  /** The index's name; it lives in the table's schema. */
  readonly index: string
  /** False where the one that stood there knew all columns already. */
  readonly built: boolean
}

export class SearchIndex extends Context.Service<
  SearchIndex,
  {
    /**
     * Makes the index, or rebuilds it where columns came since. Rows go in and are read meanwhile; a source's new
     * field waits, and its rows with it, until the index stands. Takes as long as it takes; what an interrupted build
     * leaves is taken away.
     */
    readonly build: (
      schema: string,
      name: string,
    ) => Effect.Effect<SearchIndexState, SearchIndexError | StoreUnavailable>
    /** Answers how many there were. */
    readonly drop: (schema: string, name: string) => Effect.Effect<number, SearchIndexError | StoreUnavailable>
  }
>()("@data-cabinet/core/row/SearchIndex") {}
