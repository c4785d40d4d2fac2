/** Which column of a source's table takes which field. */

/** The kinds of column a sender can bring about. A column never changes its kind by itself. */
export type SentKind = "numeric" | "text" | "boolean" | "jsonb"

/** The kinds a column can have: a sender's, and those that only an operator chooses. */
export type ColumnKind = SentKind | "date" | "timestamptz"

export const COLUMN_KINDS: ReadonlyArray<ColumnKind> = ["numeric", "text", "boolean", "jsonb", "date", "timestamptz"]

export interface FieldColumn {
  /** The field's name as sent: the column's label. */
  readonly field: string
  /** The column's name in the database. */
  readonly name: string
  readonly kind: ColumnKind
  /** An operator chose the kind: a text that spells such a value exactly is taken too. */
  readonly typePinned?: boolean
  /** Not yet known which event brought it about. */
  readonly unrecorded?: boolean
}
