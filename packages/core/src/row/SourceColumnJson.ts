/** The columns of a source's table as JSON, for its owner. */
import type { ChangedColumn } from "./ChangeColumn.ts"
import type { RetypeTrial, SourceColumn } from "./SourceColumns.ts"

export const sourceColumnJson = (column: SourceColumn) => ({
  name: column.name,
  field: column.field,
  label: column.label,
  type: column.type,
  event_id: column.eventId,
  created_at: column.createdAt,
})

/** A column after its change; `retyped` is absent if only its label changed. */
export const changedColumnJson = ({ column, retyped }: ChangedColumn) => ({
  ...sourceColumnJson(column),
  moved: retyped?.moved ?? 0,
  sibling: retyped?.sibling ?? null,
  views: retyped?.views ?? [],
})

/** The effects that a change of type would have, as JSON. */
export const retypeTrialJson = ({ misfits, examples, sibling, views }: RetypeTrial) => ({
  misfits,
  examples: examples.map(({ eventId, value }) => ({ event_id: eventId, value })),
  sibling,
  views,
})
