/** Maps fields to the columns of a source's table. */

/** The kinds of column that a sender can create. A column never changes its kind by itself. */
export type SentKind = "numeric" | "text" | "boolean" | "jsonb"

/** All kinds of columns: those that senders create, and those that only an operator can choose. */
export const COLUMN_KINDS = ["numeric", "text", "boolean", "jsonb", "date", "timestamptz"] as const

/** The kinds that a column can have. */
export type ColumnKind = (typeof COLUMN_KINDS)[number]

export interface FieldColumn {
  /** The field's name as sent: the column's label. */
  readonly field: string
  /** The column's name in the database. */
  readonly name: string
  readonly kind: ColumnKind
  /** An operator chose the kind: a text that represents such a value exactly is accepted too. */
  readonly typePinned?: boolean
  /** The event that created it has not been recorded yet. */
  readonly unrecorded?: boolean
}
