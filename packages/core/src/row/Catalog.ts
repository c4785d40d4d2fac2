/** Which objects can be read, and what each is made of, as the database has it now. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { ColumnType } from "./ColumnType.ts"
import type { Table, TableDetail } from "./Table.ts"

/** How every row of an object is told from the others, which decides how its pages are walked. */
export type RowIdentity =
  /** By its primary key. */
  | "key"
  /** By where it lies in the table's files: a table or materialized view without a key. */
  | "place"
  /** By its text, and by counting equal ones: views and foreign tables. */
  | "text"

export interface ReadableColumn {
  readonly name: string
  readonly notNull: boolean
  readonly type: ColumnType
}

/** An object with what a selection is checked and written against. */
export interface ReadableTable {
  readonly detail: TableDetail
  /** One for each of `detail.columns`, in the same order. */
  readonly columns: ReadonlyArray<ReadableColumn>
  readonly identity: RowIdentity
  /** Changes when the object is dropped and made again. */
  readonly oid: number
  /** Of which role it is, by that role's oid: whoever can add to it what runs when a read of it is planned. */
  readonly owner: number
  /** False where a read may run functions that a customer wrote, whatever it selects: a view, row policies, an index. */
  readonly runsNoUserCode: boolean
  /** The collation that folds case by Unicode on this server, quoted with its schema. */
  readonly foldCollation: string
  /** True where an index by `cabinet table search-index` stands ready that knows all the columns. */
  readonly searchIndexed: boolean
  /** What the read itself can prove the object unchanged by; null where the catalog must be asked before every read. */
  readonly catalogVersion: string | null
}

/**
 * The readable objects: source tables, and customers' tables and views, on which the reader may select and that show
 * nothing of the service's own schema. What DDL changed is seen by the next call.
 */
export class Catalog extends Context.Service<
  Catalog,
  {
    /** All of them, by schema and name. */
    readonly list: Effect.Effect<ReadonlyArray<Table>, StoreUnavailable>
    /** One by its exact names; none for what does not exist or may not be read, which are not told apart. */
    readonly find: (schema: string, name: string) => Effect.Effect<Option.Option<ReadableTable>, StoreUnavailable>
    /** As it was last found where a read can prove that it still is so, without asking; else as `find`. */
    readonly findCached: (schema: string, name: string) => Effect.Effect<Option.Option<ReadableTable>, StoreUnavailable>
  }
>()("@data-cabinet/core/row/Catalog") {}
