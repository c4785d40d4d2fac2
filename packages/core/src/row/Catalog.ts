/** The readable objects and their columns, as currently in the database. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { type ColumnType, SYSTEM_OPERATORS } from "./ColumnType.ts"
import type { Table, TableDetail } from "./Table.ts"

/** How the rows of an object are distinguished, which determines how its pages are read. */
export type RowIdentity =
  /** By its primary key. */
  | "key"
  /** By physical location (ctid) in the table's files: a table or materialized view without a key. */
  | "place"
  /** By their text, counting equal rows: views and foreign tables. */
  | "text"

/** A column that the reader may select. */
export interface ReadableColumn {
  readonly name: string
  readonly notNull: boolean
  /** The declared digits of a decimal number; null without a declaration. */
  readonly declared: { readonly precision: number; readonly scale: number } | null
  readonly type: ColumnType
}

/** A column of a query of our own that PostgreSQL returns as text. */
export const textColumn = (name: string): ReadableColumn => ({
  name,
  notNull: false,
  declared: null,
  type: {
    kind: "text",
    sql: `"pg_catalog"."text"`,
    name: "text",
    operators: SYSTEM_OPERATORS,
    plainJson: true,
    runsNoUserCode: true,
    temporal: false,
  },
})

/** An object with everything that a selection is validated and compiled against. */
export interface ReadableTable {
  readonly detail: TableDetail
  /** One for each of `detail.columns`, in the same order. */
  readonly columns: ReadonlyArray<ReadableColumn>
  readonly identity: RowIdentity
  /** Changes when the object is dropped and created again. */
  readonly oid: number
  /** The oid of its owner, a role that can add code that runs when a read of the object is planned. */
  readonly owner: number
  /**
   * False if every read may run functions that a customer wrote, whatever it selects: because of a view, row policies
   * or an index.
   */
  readonly runsNoUserCode: boolean
  /** The collation that folds case by Unicode on this server, quoted and with its schema. */
  readonly foldCollation: string
  /** True if an index created by `cabinet table search-index` is ready and covers all columns. */
  readonly searchIndexed: boolean
  /**
   * A version by which the read itself can prove that the object is unchanged; null if the catalog must be queried before
   * every read.
   */
  readonly catalogVersion: string | null
}

/**
 * The readable objects: source tables, and customers' tables and views that the reader may select from and that expose
 * nothing of the service's own schema. The next call sees every change by DDL.
 */
export class Catalog extends Context.Service<
  Catalog,
  {
    /** All objects, ordered by schema and name. */
    readonly list: Effect.Effect<ReadonlyArray<Table>, StoreUnavailable>
    /** The readable ones among these objects, by oid, each with its source. */
    readonly listOf: (oids: ReadonlyArray<number>) => Effect.Effect<ReadonlyArray<Table>, StoreUnavailable>
    /**
     * Finds an object by its exact names. None if it does not exist or may not be read; the two cases are not
     * distinguished.
     */
    readonly find: (schema: string, name: string) => Effect.Effect<Option.Option<ReadableTable>, StoreUnavailable>
    /** The object as last found, if a read can prove that it is unchanged; otherwise undefined. */
    readonly cached: (schema: string, name: string) => ReadableTable | undefined
  }
>()("@data-cabinet/core/row/Catalog") {}
