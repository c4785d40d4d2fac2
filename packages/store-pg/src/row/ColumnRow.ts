/** The row of a column in the database's list of source columns. */
import type { ColumnKind } from "@data-cabinet/core/row/FieldColumn"
import type { SourceColumn } from "@data-cabinet/core/row/SourceColumnStore"

export interface ColumnRow {
  readonly name: string
  readonly field: string
  readonly label: string
  readonly type: ColumnKind
  readonly event_id: string | null
  readonly created_at: string
}

/** The columns to select from `c`, a row of `cabinet.field_column`. */
export const COLUMN = `c.name, c.field, coalesce(c.label, c.field) AS label, c.type, c.created_by_event_id::text AS event_id,
  cabinet.rfc3339(c.created_at) AS created_at`

export const toColumn = (row: ColumnRow): SourceColumn => ({
  name: row.name,
  field: row.field,
  label: row.label,
  type: row.type,
  eventId: row.event_id === null ? null : Number(row.event_id),
  createdAt: row.created_at,
})
