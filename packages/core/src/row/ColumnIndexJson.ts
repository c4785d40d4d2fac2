/** Indexes of columns as the management API and `--json` show them. */
import type { ColumnIndex } from "./ColumnIndexStore.ts"

export const columnIndexJson = ({ name, columns, method, valid, bytes, scans, progress }: ColumnIndex) => ({
  name,
  columns,
  method,
  valid,
  bytes,
  scans,
  progress,
})
