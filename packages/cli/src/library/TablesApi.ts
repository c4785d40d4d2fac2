/** The tables and views of a cabinet and the columns of its sources' tables, with promises. */
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { SchemaGrants } from "@data-cabinet/core/row/SchemaGrants"
import type { ColumnKind } from "@data-cabinet/core/row/FieldColumn"
import type { DateNotation, Notation, NumberNotation } from "@data-cabinet/core/row/Notation"
import { type ColumnIndexState, ColumnIndexes } from "@data-cabinet/core/row/ColumnIndexes"
import type { ColumnIndex } from "@data-cabinet/core/row/ColumnIndexStore"
import { type LatestView, LatestViews } from "@data-cabinet/core/row/LatestViews"
import { type FoundSearchIndex, SearchIndex, type SearchIndexState } from "@data-cabinet/core/row/SearchIndex"
import {
  type RetypeResult,
  type RetypeTrial,
  type SourceColumn,
  SourceColumns,
} from "@data-cabinet/core/row/SourceColumns"
import type { Table, TableDetail, TableKind } from "@data-cabinet/core/row/Table"
import { Effect, Option } from "effect"
import type { Run } from "./RunEffect.ts"

export type {
  ColumnIndex,
  ColumnIndexState,
  ColumnKind,
  DateNotation,
  FoundSearchIndex,
  LatestView,
  Notation,
  NumberNotation,
  RetypeResult,
  RetypeTrial,
  SearchIndexState,
  SourceColumn,
  Table,
  TableDetail,
  TableKind,
}

/** Every readable table and view: sources' tables, and a customer's own. */
export interface TablesApi {
  /** All tables, by schema and name. */
  readonly list: () => Promise<ReadonlyArray<Table>>
  /** One table or view, such as `sources.orders`, with its columns and key; null if it does not exist or is not readable. */
  readonly get: (object: string) => Promise<TableDetail | null>
  /**
   * Lets readers read an existing schema. Returns how many of its tables and views they can now read.
   */
  readonly expose: (schema: string) => Promise<number>
  /** Reverts `expose`. Returns how many tables and views readers can still read. */
  readonly hide: (schema: string) => Promise<number>
  /**
   * Creates a schema for the author's tables and views, which `sql` fills; readers see everything created in it.
   * Returns the role that owns it. Rejects with `schema_exists`.
   */
  readonly addSchema: (schema: string) => Promise<string>
  /** The search index, even while it is being built: none, one, or two while one replaces the other. */
  readonly searchIndexes: (object: string) => Promise<ReadonlyArray<FoundSearchIndex>>
  /**
   * Creates a search index, which makes `q` fast on a large table, or rebuilds it after columns were added. Rows can be
   * written and read meanwhile.
   */
  readonly addSearchIndex: (object: string) => Promise<SearchIndexState>
  /** Drops the search index. Returns how many indexes it dropped. */
  readonly dropSearchIndex: (object: string) => Promise<number>
  /** The indexes created by `addIndex`, including one that is being built. */
  readonly indexes: (object: string) => Promise<ReadonlyArray<ColumnIndex>>
  /**
   * Creates an index of one to three columns, which makes filters and sorts fast on a large table, unless an existing index
   * serves them. Columns of text and jsonb are indexed alone, for filters by `eq`. Rows can be written and read meanwhile.
   */
  readonly addIndex: (object: string, columns: ReadonlyArray<string>) => Promise<ColumnIndexState>
  /** Drops an index of `addIndex`. Rejects with `no_such_index`. */
  readonly dropIndex: (object: string, index: string) => Promise<ColumnIndex>
  /**
   * Creates a view, as the author, with the latest row for each value of the key. By default it is `public.NAME_latest`, and
   * the row with the greater `_event_id` is later. Rows with an empty key column are left out. With `dryRun`, it only returns
   * the SQL. Rejects with `view_failed` if the name is taken, unless `replace` is true.
   */
  readonly addLatestView: (object: string, options: LatestViewOptions) => Promise<LatestView>
}

/** How to create a view of the latest rows. */
export interface LatestViewOptions {
  /** The key columns: 1 to 32. */
  readonly keys: ReadonlyArray<string>
  /** The column that decides which row is later. Default `_event_id`. */
  readonly by?: string
  /** The view's name with its schema. Default `public.NAME_latest`. */
  readonly view?: string
  /** Replaces an existing view, to add columns that the table has gained. */
  readonly replace?: boolean
  /** Returns the SQL, and creates nothing. */
  readonly dryRun?: boolean
}

/** Columns of a source's table. Senders can only add columns; every other change is made here. */
export interface ColumnsApi {
  /** All columns except `_event_id` and `_received_at`, in order of creation. */
  readonly list: (sourceId: number) => Promise<ReadonlyArray<SourceColumn>>
  /** Changes the label on screens; the name in the database stays. */
  readonly relabel: (sourceId: number, column: string, label: string) => Promise<SourceColumn>
  /**
   * Changes a column's type. Values that do not fit the new type exactly move to the sibling column. A notation says how
   * texts are read: `{numbers: "comma"}` reads `1.234,50`, `{dates: "dmy"}` reads `02.03.2026`. Rejects with `views_depend`
   * while views depend on the column, unless they are recreated; with `views_slow` if that takes too long; and with
   * `objects_depend` while anything else depends on it, which the message names.
   */
  readonly retype: (
    sourceId: number,
    column: string,
    type: ColumnKind,
    options?: { readonly withViews?: boolean } & Notation,
  ) => Promise<RetypeResult>
  /** What `retype` would do, with the first values that would move. It changes nothing and blocks nobody. */
  readonly tryRetype: (sourceId: number, column: string, type: ColumnKind, notation?: Notation) => Promise<RetypeTrial>
  /**
   * Drops a column without values, and returns it; the field's next value creates it again. Rejects with `column_filled`,
   * with `fixed_column` for `_event_id` and `_received_at`, with `views_depend` or `objects_depend`, or with `column_used`
   * while an index or a saved view uses the column.
   */
  readonly drop: (sourceId: number, column: string) => Promise<SourceColumn>
}

/** Splits a name at its first dot. A name without a dot is no object's. */
export const namesOf = (object: string): [schema: string, name: string] => {
  const dot = object.indexOf(".")
  return [object.slice(0, Math.max(0, dot)), object.slice(dot + 1)]
}

/** Builds the methods of `cabinet.tables`. */
export const tablesApi = (run: Run): TablesApi => ({
  list: () => run(Catalog.use((catalog) => catalog.list)),
  get: (object) => {
    const found = Catalog.use((catalog) => catalog.find(...namesOf(object)))
    return run(Effect.map(found, (table) => Option.getOrNull(Option.map(table, ({ detail }) => detail))))
  },
  expose: (schema) => run(SchemaGrants.use((grants) => Effect.map(grants.expose(schema), ({ objects }) => objects))),
  hide: (schema) => run(SchemaGrants.use((grants) => Effect.map(grants.hide(schema), ({ objects }) => objects))),
  addSchema: (schema) => run(SchemaGrants.use((grants) => Effect.map(grants.add(schema), ({ author }) => author))),
  searchIndexes: (object) => run(SearchIndex.use((search) => search.list(...namesOf(object)))),
  addSearchIndex: (object) => run(SearchIndex.use((search) => search.build(...namesOf(object)))),
  dropSearchIndex: (object) => run(SearchIndex.use((search) => search.drop(...namesOf(object)))),
  indexes: (object) => run(ColumnIndexes.use((indexes) => indexes.list(...namesOf(object)))),
  addIndex: (object, columns) => {
    const [schema, name] = namesOf(object)
    return run(ColumnIndexes.use((indexes) => indexes.build(schema, name, columns)))
  },
  dropIndex: (object, index) => {
    const [schema, name] = namesOf(object)
    return run(ColumnIndexes.use((indexes) => indexes.drop(schema, name, index)))
  },
  addLatestView: (object, { dryRun = false, ...options }) => {
    const [schema, name] = namesOf(object)
    const query = { schema, name, ...options }
    return run(LatestViews.use((views) => (dryRun ? views.show(query) : views.create(query))))
  },
})

/** Builds the methods of `cabinet.columns`. */
export const columnsApi = (run: Run): ColumnsApi => ({
  list: (sourceId) => run(SourceColumns.use((columns) => columns.list(sourceId))),
  relabel: (sourceId, column, label) => run(SourceColumns.use((columns) => columns.relabel(sourceId, column, label))),
  retype: (sourceId, column, type, { withViews = false, ...notation } = {}) =>
    run(SourceColumns.use((columns) => columns.retype(sourceId, column, type, { withViews, notation }))),
  tryRetype: (sourceId, column, type, notation) =>
    run(SourceColumns.use((columns) => columns.tryRetype(sourceId, column, type, notation))),
  drop: (sourceId, column) => run(SourceColumns.use((columns) => columns.drop(sourceId, column))),
})
