/** Builds and drops search indexes. `SearchIndex` decides whether a table may have one. */
import { Context, Data, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** The facts that decide whether a table can have an index. */
export interface IndexTarget {
  /** As `pg_class.relkind`. */
  readonly kind: string
  /** It has child tables, or is partitioned. */
  readonly heirs: boolean
  readonly owner: string
  /** Whether the cabinet's own user has the owner's rights. */
  readonly mine: boolean
}

/** An index of the cabinet on a table. */
export interface TableIndex {
  readonly name: string
  /** False while it is being built, and after an interrupted build. */
  readonly valid: boolean
  readonly bytes: number
  /** How often PostgreSQL has used it. */
  readonly scans: number
  /** The progress of a running build, from 0 to 1; null if none is running. */
  readonly progress: number | null
}

/** An index to be built, which replaces those named in `replaced`. */
export interface IndexToBuild {
  readonly oid: number
  readonly schema: string
  readonly table: string
  /** The expression for a row's text, as `rowText` writes it. */
  readonly text: string
  readonly foldCollation: string
  readonly replaced: ReadonlyArray<string>
}

/** Why an index was not built. `detail` is PostgreSQL's own message. */
export class NotIndexed extends Data.TaggedError("NotIndexed")<{
  readonly fact:
    | { readonly is: "no_trigrams"; readonly detail: string }
    /** pg_trgm is in a schema where this role may create functions. */
    | { readonly is: "open_trigrams"; readonly schema: string; readonly role: string }
    /** This role owns pg_trgm, and may drop it with every index that uses it. */
    | { readonly is: "authors_trigrams"; readonly owner: string }
    /** The schema for pg_trgm belongs to another role. */
    | { readonly is: "foreign_schema"; readonly owner: string }
    | { readonly is: "failed"; readonly detail: string }
}> {}

export class SearchIndexStore extends Context.Service<
  SearchIndexStore,
  {
    /** None if the table does not exist. */
    readonly target: (oid: number) => Effect.Effect<Option.Option<IndexTarget>, StoreUnavailable>
    readonly list: (oid: number) => Effect.Effect<ReadonlyArray<TableIndex>, StoreUnavailable>
    /** Builds the index without a time limit and without blocking writers; returns its name. */
    readonly build: (index: IndexToBuild) => Effect.Effect<string, NotIndexed | StoreUnavailable>
    readonly drop: (schema: string, names: ReadonlyArray<string>) => Effect.Effect<void, StoreUnavailable>
  }
>()("@data-cabinet/core/row/SearchIndexStore") {}
