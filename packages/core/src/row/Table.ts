/** A table or view as clients see it. The field names are those of the API's JSON, so that the objects are sent unchanged. */

/** Readers see partitioned and foreign tables as tables. */
export type TableKind = "table" | "view" | "matview"

/** A readable object, as listed. */
export interface Table {
  readonly schema: string
  readonly name: string
  readonly kind: TableKind
  /** The source whose rows these are; null for a customer's own object. */
  readonly source: { readonly id: number; readonly name: string } | null
  readonly comment: string | null
  /** From the database's statistics; null for a view. */
  readonly rows_estimate: number | null
}

/** A column of a table or view. */
export interface Column {
  /** The name in the database: selections refer to it, and it is the key in a row. */
  readonly name: string
  /** The database's name of the type, such as `timestamp with time zone`. */
  readonly type: string
  /** The displayed name: for a source's column the field's name as sent, otherwise the column's name. */
  readonly label: string
  readonly comment: string | null
}

/** An object with everything that a reader may know about it. */
export interface TableDetail extends Table {
  readonly columns: ReadonlyArray<Column>
  /** The names of the primary key's columns, in the key's order; empty without one. */
  readonly key: ReadonlyArray<string>
  /** The query of a view or materialized view. */
  readonly definition: string | null
}
