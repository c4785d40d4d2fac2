/** Which column of a source's table takes which field. */

/** The kinds of column a sender can bring about. A column never changes its kind by itself. */
export type ColumnKind = "numeric" | "text" | "boolean" | "jsonb"

export interface FieldColumn {
  /** The field's name as sent: the column's label. */
  readonly field: string
  /** The column's name in the database. */
  readonly name: string
  readonly kind: ColumnKind
}
