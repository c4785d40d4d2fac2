/** Tables and columns as JSON for readers. */
import type { Column, Table, TableDetail } from "./Table.ts"

export const tableJson = ({ schema, name, kind, source, comment, rows_estimate }: Table) => ({
  schema,
  name,
  kind,
  source: source === null ? null : { id: source.id, name: source.name },
  comment,
  rows_estimate,
})

/** A table with its columns, as JSON. */
export const tableDetailJson = (detail: TableDetail) => ({
  ...tableJson(detail),
  columns: detail.columns.map(columnJson),
  key: detail.key,
  definition: detail.definition,
})

/** A column as JSON. */
export const columnJson = ({ name, type, label, comment }: Column) => ({ name, type, label, comment })
