/** Interprets what somebody changed by hand in the tables of sources. */
import type { DiagnosticsReport } from "./Diagnostics.ts"
import { type Finding, finding } from "./Doctor.ts"

const ofLost = ({ lostTables: lost }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (lost.length === 0) return []
  const each = lost.map(({ sourceId, name, table }) => `${table} of source ${sourceId} (${name})`)
  const message = `Tables of sources were dropped, renamed or moved by hand: ${each.join(", ")}. Their events are complete, in the feed and in deliveries; their rows are set aside until the table has its name again. If the source is no longer needed, delete it: cabinet source delete ${lost[0]!.sourceId}`
  return [finding("tables", "warn", message)]
}

const ofInexact = ({ inexactColumns: inexact }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (inexact.length === 0) return []
  const each = inexact.map(
    ({ table, column, type, expected }) => `column "${column}" of ${table} (${type} instead of ${expected})`,
  )
  const { sourceId, table } = inexact[0]!
  const message = `The type of columns was changed by hand to one that rounds, cuts or rewrites values without an error: ${each.join(", ")}. The events keep every value as sent. To restore the values of ${table}, give its columns their type again (ALTER TABLE), and then run: cabinet table rebuild ${sourceId}`
  return [finding("columns", "warn", message)]
}

/** Tables that are not where they should be, and columns whose type loses values. */
export const ofTables = (diagnostics: DiagnosticsReport): ReadonlyArray<Finding> => [
  ...ofLost(diagnostics),
  ...ofInexact(diagnostics),
]
